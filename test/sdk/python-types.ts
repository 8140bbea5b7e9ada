import {
  eventTypes,
  generatedBy,
  reasonRows,
  referenceOf,
  type Schema,
  schemaOf,
  shown,
} from './contract-types.ts';

const primitives: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};
const literal = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const union = (types: readonly string[]): string => `Union[${[...new Set(types)].join(', ')}]`;

/** Returns the Python type of a schema. A nested object gets a class of its own, which is added to `classes`. */
function typeOf(schema: Schema, name: string, classes: string[]): string {
  if (schema.$ref) return referenceOf(schema.$ref);
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
  if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
  if (schema.anyOf) return union(schema.anyOf.map((one) => typeOf(one, name, classes)));
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => primitives[type] ?? 'object'));
  if (schema.type === 'array') return `List[${typeOf(schema.items ?? {}, name, classes)}]`;
  if (schema.type !== 'object') return primitives[schema.type ?? ''] ?? 'object';
  classes.push(classOf(schema, name, classes));
  return name;
}

function classOf(
  { properties = {}, required = [], description }: Schema,
  name: string,
  classes: string[],
): string {
  const total = Object.keys(properties).every((field) => required.includes(field));
  const fields = Object.entries(properties).flatMap(([field, schema]) => [
    ...(schema.description ? [`    # ${schema.description}.`] : []),
    `    ${field}: ${typeOf(schema, name + pascal(field), classes)}`,
  ]);
  const comment = description ? [`    """${description.replace(/\.$/, '')}."""`, ''] : [];
  return [`class ${name}(TypedDict${total ? '' : ', total=False'}):`, ...comment, ...fields].join('\n');
}

function declarations(name: string): string[] {
  const schema = schemaOf(name);
  if (schema.enum)
    return [`${name} = Literal[\n${schema.enum.map((one) => `    ${literal(one)},`).join('\n')}\n]`];
  const classes: string[] = [];
  typeOf(schema, name, classes);
  return classes;
}

/** Returns the text of `sdk/python/svc_gateway/contract.py`. */
export function renderPython(): string {
  const types = shown.flatMap(declarations).join('\n\n\n');
  return `"""Types of requests, answers and events.

${generatedBy.replace(': ', ':\n')}
"""

from typing import Dict, List, Literal, TypedDict, Union

${types}


# Tell them apart by event. A later version may send others: ignore what you do not know.
WebhookEvent = Union[${eventTypes.join(', ')}]

# Whether a new session may succeed, by the reason of a redirect.
REASON_IS_RETRYABLE: Dict[str, bool] = {
${reasonRows.map(([reason, retryable]) => `    "${reason}": ${literal(retryable)},`).join('\n')}
}
`;
}
