"""Rules judged where the rows are: DuckDB, polars, Spark, Dask, and databases through ibis."""
