"""Actions: what each action of ``assay machine`` is for, with an example, for ``--help``."""

ACTIONS = """\
actions:
  show      what this machine is made of and how it is set; with -o FILE.svg a drawing
              assay machine show -o machine.svg
  check     whether it is fit for measuring, and what to do where not; 1 where a check fails
              assay machine check --profile hpc
  snapshot  all that assay reads of it, in an archive, without names and serial numbers
              assay machine snapshot -o machine.tar.gz
  diff      what tells two machines apart, or one at two moments: A [B]; each is a snapshot,
            a folder, a study, or live (also without B)
              assay machine diff before.tar.gz live
  apply     make the settings of a profile hold, until restore or a reboot; as root
              assay machine apply measuring --dry-run
  restore   put back what apply, or a study that was killed, has changed, and delete all
            partitions; as root
              assay machine restore
  noise     how much time is taken away from a program here, how often, and by what;
            methods: selfish, fwq, ftq (all of them without a word)
              assay machine noise fwq --cpus 0-1 --seconds 10s
"""
