/** Where in an object a mapper is: names in code are said, to find the mistake; others may be somebody's data. */
export const memberPath = (path: string, name: string): string => {
  const said = /^[A-Za-z_$][\w$]{0,39}$/.test(name) ? name : '{}';
  return path === '' ? said : `${path}.${said}`;
};

/** How deeply DynamoDB nests lists and maps in an attribute. */
export const maximumDepth = 32;
