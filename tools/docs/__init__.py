"""Generated parts of the documentation: command pages, setting tables, schemas, manual pages."""
