"""Reports: a self-contained HTML page, static pictures, Markdown and CSV.

Reports are computed from records alone. Modules:

- ``inputs``: input of a report
- ``arms``: samples of one configuration in one phase
- ``limitations``: limitations of the answer
- ``figures``: data of the pictures
- ``cells``: data of the pictures of a sweep
- ``svg``: static pictures (Matplotlib, imported late)
- ``html``: the page
- ``text``: Markdown and CSV
"""
