"""Programs whose data exceed memory: `assay tier`, swap and mapped files."""
