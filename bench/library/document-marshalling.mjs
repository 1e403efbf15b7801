// What the DocumentClient does to a command beside sending it: its own middleware, taken from its own commands, without
// the request around it. It copies the input and converts the members that the command names.
import { PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';

const configuration = { translateConfig: { marshallOptions: { removeUndefinedValues: true } } };

const middlewareOf = (command) => {
  const added = [];
  const { clientCommand } = command;
  command.clientCommand = { middlewareStack: { addRelativeTo: (middleware) => added.push(middleware) } };
  command.addMarshallingMiddleware(configuration);
  command.clientCommand = clientCommand;
  return added;
};

const input = ({ input }) => input;
const marshalled = (command) => middlewareOf(command)[0](input, {})({ input: command.input });

export const marshalledUpdate = (given) => marshalled(new UpdateCommand(given));
export const marshalledPut = (given) => marshalled(new PutCommand(given));

const [, unmarshall] = middlewareOf(new QueryCommand({}));
export const unmarshalledPage = async (Items) => (await unmarshall(() => ({ output: { Items } }), {})({})).output.Items;
