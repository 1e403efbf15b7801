// The order that every side writes and reads: ten attributes, a list of maps and a map among them.
export const key = { customer: 'alice', number: 1 };
export const item = {
  ...key,
  status: 'OPEN',
  total: 12.5,
  note: 'leave at the door',
  paid: false,
  quantity: 3,
  rank: 4,
  lines: [
    { sku: 'KB-01', quantity: 1, price: 79.5 },
    { sku: 'KB-02', quantity: 2, price: 3.25 },
  ],
  shipTo: { city: 'Bern', zip: '3000', street: 'Kramgasse 1' },
};
/** Items are read by the page, so that little but their parsing is measured. */
export const page = 25;
export const changes = { status: 'PAID', total: 3, note: 'paid' };
export const storedKey = { pk: 'CUSTOMER#alice', sk: 'ORDER#0000000001' };
export const expression = {
  UpdateExpression: 'SET #a = :a, #b = :b, #c = :c, #t = if_not_exists(#t, :t)',
  ConditionExpression: '#b < :d',
  ExpressionAttributeNames: { '#a': 'status', '#b': 'total', '#c': 'note', '#t': '_type' },
};
/** An item as the client's parser makes it of an answer: its texts are not those that were put together to write it. */
export const received = (stored) => JSON.parse(JSON.stringify(stored));

/** A client that has a page of the stored item for whoever reads, at once: for sides that parse only what they asked for. */
export const pageReader = (stored) => {
  const one = received(stored);
  return { send: () => Promise.resolve({ Items: Array(page).fill(one), Count: page, $metadata: {} }) };
};
