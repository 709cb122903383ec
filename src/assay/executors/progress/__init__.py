"""Values that a program reports while it runs.

``lines`` splits output into lines, ``output_files`` and ``channel`` read new contents,
``table_files``, ``json_lines`` and ``event_files`` read files of the program, ``line_matching`` and
``presets`` find values in lines, ``step_count`` makes steps increase, ``recorder`` keeps the
series, ``diagnosis`` explains silence and buffering, and ``watch`` joins them for one launch.
"""
