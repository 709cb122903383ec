"""OS noise: CPU time that the kernel and other processes take from a program."""
