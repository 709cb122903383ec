#!/bin/busybox sh
# First process of a test guest (see guest.py). Files under /vm configure it:
#   cgroup   v2, v1, hybrid or none      limit    seconds after which the guest gives up
#   command/NNN  the commands, in order  wait     seconds that each of them may take
# /vm/result/NNN/{status,stdout,stderr,out/...} goes out over QEMU's debug console.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/ LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
ln -sf /proc/self/fd /dev/fd
mkdir -p /dev/shm /tmp /vm/result
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp

# So long may a command take to end that was killed.
KILLED_S=15

# By way of the kernel's log, which reaches the serial console without interrupts.
say() { echo "<2>vm: $*" >/dev/kmsg; }
dmesg -n 5

# Report hangs: the kernel's stacks of blocked tasks, of all CPUs, and of all threads of
# processes. Command lines and maps are not read: that may hang too.
tell_stacks() {
    dmesg -n 8
    say "stacks: $*"
    for key in w l; do echo $key >/proc/sysrq-trigger; done
    for task in /proc/[0-9]*/task/[0-9]*; do
        [ -n "$(readlink "${task%/task/*}/exe")" ] || continue
        say "thread ${task##*/} ($(cat "$task/comm")), call and words: $(cat "$task/syscall")"
        while read -r line; do say "    $line"; done <"$task/stack"
    done
    say "that was all of the stacks"
    dmesg -n 5
}

# After this number of seconds, unless it is ended before; it leaves no process.
tell_stacks_in() {
    trap 'kill $nap; exit' TERM
    sleep "$1" &
    nap=$!
    wait $nap
    shift
    tell_stacks "$*"
}

(
    sleep "$(cat /vm/limit)"
    tell_stacks "the guest's time is up"
    poweroff -f
) &

top=/sys/fs/cgroup
mode=$(cat /vm/cgroup)
case $mode in
v2)
    mount -t cgroup2 cgroup2 $top
    # As systemd does: without this no group below the root has a controller.
    for controller in cpuset cpu io memory pids; do
        echo "+$controller" >$top/cgroup.subtree_control || say "no controller $controller"
    done
    ;;
v1 | hybrid)
    mount -t tmpfs tmpfs $top
    for group in cpu,cpuacct cpuset memory pids blkio freezer devices; do
        mkdir $top/$group
        mount -t cgroup -o $group cgroup $top/$group && continue
        say "no v1 hierarchy for $group"
        rmdir $top/$group
    done
    ln -s cpu,cpuacct $top/cpu
    ln -s cpu,cpuacct $top/cpuacct
    if [ "$mode" = hybrid ]; then
        mkdir $top/unified
        mount -t cgroup2 cgroup2 $top/unified
    fi
    ;;
esac

number=0
for disk in /dev/nvme[0-9]n1; do
    [ -b "$disk" ] || continue
    mkdir -p /mnt/$number
    mount -t ext4 "$disk" /mnt/$number || say "no file system on $disk"
    number=$((number + 1))
done

for command in /vm/command/*; do
    number=${command##*/}
    result=/vm/result/$number
    rm -rf /out
    mkdir -p /out "$result"
    say "command $number: $(tail -n 1 "$command")"
    # busybox timeout watches from a grandchild: the command itself is a child of this process.
    # In the background, so that this shell does not add its "Killed" to the command's stderr.
    timeout -s KILL "$(cat /vm/wait)" "$command" >"$result/stdout" 2>"$result/stderr" </dev/null &
    running=$!
    tell_stacks_in $(($(cat /vm/wait) + KILLED_S)) "command $number was killed, and has not ended" &
    watchdog=$!
    wait $running
    echo $? >"$result/status"
    kill $watchdog
    mv /out "$result/out"
done

say "sending the results"
tar -c -z -f /vm/result.tar.gz -C /vm/result .
/vm/send /vm/result.tar.gz
say "done"
# A guest that stays answers on the second serial line until a request to end.
[ ! -e /vm/agent ] || /vm/agent /dev/ttyS1
poweroff -f
