/** What dynamodb-onetable's schemas of the table have in common: their form, and its keys. */
export const schema = {
  format: 'onetable:1.1.0',
  version: '0.0.1',
  indexes: { primary: { hash: 'pk', sort: 'sk' } },
};
