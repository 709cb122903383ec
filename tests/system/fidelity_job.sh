#!/bin/sh
# fidelity_job.sh SECONDS KIND: a program whose work grows with SECONDS, and whose score with KIND.
sleep "$1"
case $2 in a) score=100 ;; b) score=80 ;; c) score=120 ;; d) score=90 ;; *) score=110 ;; esac
echo "seconds $1 score $score"
