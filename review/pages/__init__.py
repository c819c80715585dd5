"""The pages people use: who may open them, their addresses, forms and views."""
