/** One document for each: the schema, the progress of migrations, the changes of the directory, the database's clock. */
export const metaCollection = 'meta';
