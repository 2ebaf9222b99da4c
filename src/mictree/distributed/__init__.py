"""Growth on Dask collections: partitions are packed where they lie, and only counts travel."""
