"""Spreadsheets: XLSX and ODS, each streamed."""
