"""Reports: one self-contained HTML page, static pictures, Markdown and CSV.

Everything here is computed from records alone; nothing is measured, read from a store or asked of
the host. Import from the module that holds the noun:

- ``inputs``: what a report is made of
- ``arms``: the samples of one configuration in one phase
- ``weaknesses``: what speaks against the answer
- ``figures``: figure data, apart from drawing
- ``cells``: the same for the pictures of a sweep
- ``svg``: static pictures (Matplotlib, imported late)
- ``html``: the page
- ``text``: Markdown and CSV (no verb calls it yet)
"""
