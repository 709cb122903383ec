"""Variables of the environment that differ between two sessions of one user.

They come from the terminal, the login or the batch job that assay was started in, and mean nothing
to a program whose output goes to a file. A study keeps them and does not compare them. All others
are compared: one that nobody here knows may mean a lot to the program that reads it.
"""

from __future__ import annotations

OF_A_SESSION: dict[str, tuple[str, ...]] = {
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
    "tmux, screen and their like": ("TMUX", "TMUX_*", "STY", "BYOBU_*", "ZELLIJ", "ZELLIJ_*"),
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
    # systemd.exec(5), "Environment Variables Set or Propagated by the Service Manager".
    "systemd": (
        *("INVOCATION_ID", "JOURNAL_STREAM", "MANAGERPID", "MANAGERPIDFDID", "SYSTEMD_EXEC_PID"),
        *("NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES"),
        *("WATCHDOG_PID", "WATCHDOG_USEC", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE"),
        "CREDENTIALS_DIRECTORY",
    ),
    # Which job it is, and when and where; what a job was given is compared.
    "batch jobs": (
        *("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NAME", "SLURM_JOB_START_TIME"),
        *("SLURM_JOB_END_TIME", "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_STEP_NODELIST"),
        *("SLURM_STEP_ID", "SLURM_STEPID", "SLURM_STEP_LAUNCHER_PORT", "SLURM_TASK_PID"),
        *("SLURM_SUBMIT_DIR", "SLURM_SUBMIT_HOST", "SLURM_LAUNCH_NODE_IPADDR"),
        *("SLURM_SRUN_COMM_HOST", "SLURM_SRUN_COMM_PORT", "SLURM_TOPOLOGY_ADDR"),
        *("SLURMD_NODENAME", "PBS_JOBID", "PBS_JOBCOOKIE", "LSB_JOBID", "FLUX_JOB_ID"),
    ),
}
"""By what sets them; a star stands for any ending, where the beginning belongs to one program."""

_NAMES = frozenset(
    pattern for group in OF_A_SESSION.values() for pattern in group if not pattern.endswith("*")
)
_BEGINNINGS = tuple(
    pattern[:-1] for group in OF_A_SESSION.values() for pattern in group if pattern.endswith("*")
)


def is_of_a_session(name: str) -> bool:
    """Whether a variable of this name says no more than where assay was started."""
    return name in _NAMES or name.startswith(_BEGINNINGS)
