"""Environment variables that differ between two sessions of one user.

They come from the terminal, the login or the batch job of assay, and have no effect on a program
whose output goes to a file. A study stores them without comparing them. All others are compared: an
unknown variable may affect the program that reads it.
"""

from __future__ import annotations

SESSION_VARIABLES: dict[str, tuple[str, ...]] = {
    "shells and prompts": (
        *("_", "SHLVL", "PWD", "OLDPWD", "PS0", "PS1", "PS2", "PS3", "PS4"),
        *("PROMPT", "PROMPT_COMMAND", "RPROMPT", "STARSHIP_*", "TMOUT", "MAIL", "MAILCHECK"),
        *("HISTFILE", "HISTSIZE", "HISTFILESIZE", "HISTCONTROL", "HISTIGNORE", "HISTTIMEFORMAT"),
        *("SAVEHIST", "LS_COLORS", "LS_OPTIONS", "GREP_COLOR", "GREP_COLORS", "which_declare"),
        *("EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESS", "LESSOPEN", "LESSCLOSE"),
        *("DIRENV_*", "CONDA_PROMPT_MODIFIER", "CONDA_SHLVL", "VIRTUAL_ENV_PROMPT"),
        *("DEBUGINFOD_URLS", "MAKELEVEL", "MAKE_TERMOUT", "MAKE_TERMERR", "ASSAY_*"),
    ),
    "terminals": (
        *("TERM", "TERMCAP", "TERMINFO", "TERMINFO_DIRS", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"),
        *("TERM_SESSION_ID", "TERM_FEATURES", "COLORTERM", "COLORFGBG", "NO_COLOR", "CLICOLOR"),
        *("COLUMNS", "LINES", "WINDOW", "WINDOWID", "WINDOWPATH", "XTERM_*", "VTE_*"),
        *("GNOME_TERMINAL_*", "PTYXIS_*", "TILIX_ID", "TERMINATOR_*", "GUAKE_*"),
        *("KONSOLE_*", "PROFILEHOME", "SHELL_SESSION_ID", "KITTY_*", "WEZTERM_*", "ALACRITTY_*"),
        *("GHOSTTY_*", "ITERM_*", "LC_TERMINAL", "LC_TERMINAL_VERSION", "TERMINAL_EMULATOR"),
        *("WT_SESSION", "WT_PROFILE_ID", "WSLENV", "WSL_INTEROP"),
    ),
    "tmux, screen and similar": ("TMUX", "TMUX_*", "STY", "BYOBU_*", "ZELLIJ", "ZELLIJ_*"),
    "editors": (
        *("VSCODE_*", "CURSOR_TRACE_ID", "GIT_ASKPASS", "BROWSER", "PYTHONSTARTUP"),
        *("PYTHON_BASIC_REPL", "BUNDLED_DEBUGPY_PATH", "PYDEVD_DISABLE_FILE_VALIDATION"),
        *("INSIDE_EMACS", "VIM", "VIMRUNTIME", "MYVIMRC", "NVIM", "NVIM_*", "__INTELLIJ_*"),
    ),
    "logins and desktops": (
        *("XDG_SESSION_*", "XDG_SEAT", "XDG_SEAT_PATH", "XDG_VTNR", "XDG_RUNTIME_DIR"),
        *("XDG_CURRENT_DESKTOP", "XDG_MENU_PREFIX", "XDG_ACTIVATION_TOKEN", "DESKTOP_SESSION"),
        *("DESKTOP_STARTUP_ID", "DESKTOP_AUTOSTART_ID", "SESSION_MANAGER", "GDMSESSION"),
        *("GDM_LANG", "GNOME_*", "KDE_*", "PAM_KWALLET5_LOGIN", "DBUS_*", "DISPLAY"),
        *("WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "ICEAUTHORITY", "XMODIFIERS"),
        *("IM_CONFIG_PHASE", "GTK_IM_MODULE", "QT_IM_MODULE", "QT_ACCESSIBILITY"),
        *("GIO_LAUNCHED_*", "BAMF_DESKTOP_FILE_HINT", "HOSTNAME", "KRB5CCNAME", "SSH_*", "GPG_*"),
        *("SUDO_*", "DOAS_USER"),
    ),
    # scikit-learn and threadpoolctl set them in the process that imports them, so that several
    # OpenMP runtimes in it and forks of it work.
    "imports in Python": ("KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK"),
    # systemd.exec(5), "Environment Variables Set or Propagated by the Service Manager".
    "systemd": (
        *("INVOCATION_ID", "JOURNAL_STREAM", "MANAGERPID", "MANAGERPIDFDID", "SYSTEMD_EXEC_PID"),
        *("NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES"),
        *("WATCHDOG_PID", "WATCHDOG_USEC", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE"),
        "CREDENTIALS_DIRECTORY",
    ),
    # Identity, time and place of a job; variables with its resources are compared.
    "batch jobs": (
        *("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NAME", "SLURM_JOB_START_TIME"),
        *("SLURM_JOB_END_TIME", "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_STEP_NODELIST"),
        *("SLURM_STEP_ID", "SLURM_STEPID", "SLURM_STEP_LAUNCHER_PORT", "SLURM_TASK_PID"),
        *("SLURM_SUBMIT_DIR", "SLURM_SUBMIT_HOST", "SLURM_LAUNCH_NODE_IPADDR"),
        *("SLURM_SRUN_COMM_HOST", "SLURM_SRUN_COMM_PORT", "SLURM_TOPOLOGY_ADDR"),
        *("SLURMD_NODENAME", "PBS_JOBID", "PBS_JOBCOOKIE", "LSB_JOBID", "FLUX_JOB_ID"),
        *("SLURM_ARRAY_JOB_ID", "SLURM_JWT", "SLURM_PTY_PORT", "SLURM_PTY_WIN_COL"),
        *("SLURM_PTY_WIN_ROW", "PBS_JOBNAME", "PBS_NODEFILE", "PBS_MOMPORT", "PBS_TASKNUM"),
        *("PBS_JOBDIR", "PBS_ENVIRONMENT", "PBS_O_HOST", "PBS_O_WORKDIR", "LSB_JOBNAME"),
        *("LSB_JOBFILENAME", "LSB_BATCH_JID", "LSB_ERRORFILE", "LSB_OUTPUTFILE", "LSB_HOSTS"),
        *("LSB_MCPU_HOSTS", "LSB_DJOB_HOSTFILE", "LSB_DJOB_RANKFILE", "LSB_AFFINITY_HOSTFILE"),
        *("LSB_ACCT_FILE", "LSB_CHKFILENAME", "LSB_EEXEC_REAL_UID", "LSB_EEXEC_REAL_GID"),
        *("LSB_SUB_HOST", "LSB_JOBRES_PID", "LSB_JOBRES_CALLBACK", "LSF_JOB_TIMESTAMP_VALUE"),
        *("LS_JOBPID", "LS_SUBCWD", "JOB_ID", "JOB_SCRIPT", "PE_HOSTFILE", "REQUEST", "REQNAME"),
        *("SGE_JOB_SPOOL_DIR", "SGE_STDIN_PATH", "SGE_STDOUT_PATH", "SGE_STDERR_PATH"),
        *("SGE_O_HOST", "SGE_O_WORKDIR", "COBALT_JOBID", "COBALT_NODEFILE", "COBALT_PARTNAME"),
        *("OAR_JOB_ID", "OAR_JOBID", "OAR_JOB_NAME", "OAR_NODEFILE", "OAR_NODE_FILE"),
        *("FLUX_URI", "FLUX_KVS_NAMESPACE", "FLUX_JOB_TMPDIR", "FLUX_JOB_ID_PATH"),
        *("_CONDOR_JOB_AD", "_CONDOR_MACHINE_AD", "_CONDOR_SLOT", "_CONDOR_SCRATCH_DIR"),
        *("_CONDOR_CHIRP_CONFIG", "_CONDOR_CREDS", "_CONDOR_JOB_PIDS"),
    ),
    # Parameters of MPI (OMPI_MCA_btl) are compared: only names, keys and places of a job are
    # listed.
    "MPI launchers": (
        *("OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri", "OMPI_MCA_orte_local_daemon_uri"),
        *("OMPI_MCA_orte_jobfam_session_dir", "OMPI_MCA_orte_top_session_dir"),
        *("OMPI_MCA_orte_precondition_transports", "OMPI_MCA_orte_ess_node_rank"),
        *("OMPI_MCA_initial_wdir", "OMPI_FILE_LOCATION", "PMIX_NAMESPACE", "PMIX_ID"),
        *("PMIX_HOSTNAME", "PMIX_SERVER_*", "PMIX_DSTORE_*", "PMIX_SYSTEM_TMPDIR"),
        *("PMIX_KEEPALIVE_PIPE", "PMI_FD", "PMI_PORT", "PMI_JOBID", "HYDI_CONTROL_FD"),
    ),
    # Identity, commit and keys of a run; `CI` and similar are compared.
    "jobs of continuous integration": (
        *("GITHUB_RUN_ID", "GITHUB_RUN_NUMBER", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB"),
        *("GITHUB_ACTION", "GITHUB_ACTION_PATH", "GITHUB_ACTOR", "GITHUB_ACTOR_ID"),
        *("GITHUB_TRIGGERING_ACTOR", "GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_SHA"),
        *("GITHUB_REF", "GITHUB_REF_NAME", "GITHUB_REF_TYPE", "GITHUB_REF_PROTECTED"),
        *("GITHUB_HEAD_REF", "GITHUB_BASE_REF", "GITHUB_WORKFLOW", "GITHUB_WORKFLOW_REF"),
        *("GITHUB_WORKFLOW_SHA", "GITHUB_TOKEN", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH"),
        *("GITHUB_STATE", "GITHUB_STEP_SUMMARY", "RUNNER_NAME", "RUNNER_TRACKING_ID"),
        *("ACTIONS_RUNTIME_TOKEN", "ACTIONS_RUNTIME_URL", "ACTIONS_RESULTS_URL"),
        *("ACTIONS_CACHE_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL"),
        *("ACTIONS_ORCHESTRATION_ID", "CI_JOB_*", "CI_PIPELINE_*", "CI_COMMIT_*"),
        *("CI_MERGE_REQUEST_*", "CI_BUILD_ID", "CI_BUILD_NUMBER", "CI_BUILD_TOKEN"),
        *("CI_CONCURRENT_ID", "CI_CONCURRENT_PROJECT_ID", "CI_RUNNER_ID", "CI_NODE_INDEX"),
        *("CI_RUNNER_DESCRIPTION", "CI_RUNNER_SHORT_TOKEN", "CI_REPOSITORY_URL"),
        *("CI_REGISTRY_PASSWORD", "CI_DEPENDENCY_PROXY_PASSWORD", "GITLAB_USER_*"),
        *("BUILD_NUMBER", "BUILD_ID", "BUILD_DISPLAY_NAME", "BUILD_TAG", "BUILD_URL"),
        *("BUILD_TIMESTAMP", "JOB_NAME", "JOB_BASE_NAME", "JOB_URL", "JOB_DISPLAY_URL"),
        *("RUN_DISPLAY_URL", "RUN_CHANGES_DISPLAY_URL", "RUN_ARTIFACTS_DISPLAY_URL"),
        *("RUN_TESTS_DISPLAY_URL", "EXECUTOR_NUMBER", "NODE_NAME", "STAGE_NAME"),
        *("JENKINS_SERVER_COOKIE", "JENKINS_NODE_COOKIE", "JENKINS_COOKIE", "HUDSON_COOKIE"),
        *("HUDSON_SERVER_COOKIE", "GIT_COMMIT", "GIT_PREVIOUS_COMMIT"),
        *("GIT_PREVIOUS_SUCCESSFUL_COMMIT", "TRAVIS_BUILD_*", "TRAVIS_JOB_*"),
        *("TRAVIS_COMMIT", "TRAVIS_COMMIT_MESSAGE", "TRAVIS_COMMIT_RANGE", "CIRCLE_BUILD_NUM"),
        *("CIRCLE_BUILD_URL", "CIRCLE_JOB", "CIRCLE_WORKFLOW_*", "CIRCLE_PIPELINE_ID"),
        *("CIRCLE_PREVIOUS_BUILD_NUM", "CIRCLE_SHA1", "CIRCLE_OIDC_*", "BUILDKITE_BUILD_*"),
        *("BUILDKITE_JOB_ID", "BUILDKITE_STEP_ID", "BUILDKITE_AGENT_*", "BUILDKITE_COMMIT"),
        *("BUILDKITE_MESSAGE", "BUILDKITE_RETRY_COUNT", "BUILD_BUILDID", "BUILD_BUILDNUMBER"),
        *("BUILD_BUILDURI", "BUILD_SOURCEVERSION", "BUILD_SOURCEVERSIONMESSAGE"),
        *("SYSTEM_JOBID", "SYSTEM_PLANID", "SYSTEM_TIMELINEID", "SYSTEM_TASKINSTANCEID"),
        *("SYSTEM_STAGEID", "SYSTEM_PHASEID", "SYSTEM_ACCESSTOKEN", "AGENT_ID"),
        *("AGENT_NAME", "AGENT_JOBNAME", "BITBUCKET_BUILD_NUMBER", "BITBUCKET_COMMIT"),
        *("BITBUCKET_PIPELINE_UUID", "BITBUCKET_STEP_UUID", "BITBUCKET_STEP_OIDC_TOKEN"),
        *("DRONE_BUILD_*", "DRONE_COMMIT*", "CIRRUS_BUILD_ID", "CIRRUS_TASK_ID"),
        *("CIRRUS_CHANGE_IN_REPO", "BUILD_VCS_NUMBER", "TEAMCITY_BUILD_PROPERTIES_FILE"),
    ),
}
"""Variables by their source; a star stands for any suffix, if the prefix belongs to one program."""

_NAMES = frozenset(
    pattern
    for group in SESSION_VARIABLES.values()
    for pattern in group
    if not pattern.endswith("*")
)
_BEGINNINGS = tuple(
    pattern[:-1]
    for group in SESSION_VARIABLES.values()
    for pattern in group
    if pattern.endswith("*")
)


def is_session_variable(name: str) -> bool:
    """Return whether a variable of this name only describes the session of assay."""
    return name in _NAMES or name.startswith(_BEGINNINGS)
