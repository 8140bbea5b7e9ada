import { type Document, describeOperation } from './document.ts';
import { operations } from './operations.ts';

const prefix = '#/components/schemas/';

function referencedSchemas(value: unknown): string[] {
  const text = JSON.stringify(value);
  const references = text.matchAll(/"\$ref":"#\/components\/schemas\/(?<name>[^"]+)"/g);
  return [...references].map(({ groups }) => groups?.['name'] ?? '');
}

/** Returns the names of all schemas that the document refers to, directly or through other schemas. */
function usedSchemas(document: Document, schemas: Record<string, unknown>): Set<string> {
  // The components contain all schemas, also those that no endpoint uses.
  const used = new Set(referencedSchemas({ ...document, components: undefined }));
  // A set visits the names that are added during the loop too.
  for (const name of used) {
    for (const reference of referencedSchemas(schemas[name] ?? {})) used.add(reference);
  }
  return used;
}

/**
 * Returns the published name of each schema. The generator names the schema of a request `XInput`. It is published as `X`, unless a
 * response has a schema of that name.
 */
function publishedNames(used: ReadonlySet<string>): Map<string, string> {
  const names = new Map<string, string>();
  for (const name of used) {
    const withoutInput = name.replace(/Input$/, '');
    names.set(name, used.has(withoutInput) ? name : withoutInput);
  }
  return names;
}

/** Whether a route answers JSON by its schema. Pages have no such schema. */
const answersJson = ({ responses = {} }: { responses?: Record<string, { content?: object }> }): boolean =>
  Object.values(responses).some(({ content = {} }) => 'application/json' in content);

/** Describes the endpoints of the table. @throws if an endpoint has no route, or a route that answers JSON has no row */
function describePaths(generated: Document): NonNullable<Document['paths']> {
  const paths: NonNullable<Document['paths']> = {};
  for (const [endpoint, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = endpoint.split(' ');
    const verb = method.toLowerCase();
    const route = generated.paths?.[path]?.[verb];
    if (!route) throw new Error(`${endpoint} is described, but no such route is registered`);
    paths[path] = { ...paths[path], [verb]: describeOperation(operation, route) };
  }
  // Other routes are pages for people, which the document leaves out.
  const missing = Object.entries(generated.paths ?? {}).flatMap(([path, routes]) =>
    Object.entries(routes)
      .filter(([verb, route]) => !paths[path]?.[verb] && (path.startsWith('/api/') || answersJson(route)))
      .map(([verb]) => `${verb.toUpperCase()} ${path}`),
  );
  if (missing.length > 0)
    throw new Error(`add a row to contracts/openapi/operations.ts for each of: ${missing.join(', ')}`);
  return paths;
}

/**
 * Returns the published document. It has the endpoints of the table with their texts, and the schemas that they use. All are
 * sorted, so that every run gives the same bytes.
 */
export function finishDocument(generated: Document): Document {
  const schemas = generated.components?.schemas ?? {};
  const document: Document = { ...generated, paths: describePaths(generated) };
  const names = publishedNames(usedSchemas(document, schemas));
  const publishedSchemas = [...names]
    .map(([name, published]): [string, unknown] => [published, schemas[name]])
    .sort(([a], [b]) => a.localeCompare(b));
  const finished = {
    ...document,
    components: { ...generated.components, schemas: Object.fromEntries(publishedSchemas) },
  };
  return renameReferences(finished, names);
}

/** Replaces the names of schemas in all references. */
function renameReferences(document: Document, names: ReadonlyMap<string, string>): Document {
  return JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    if (key !== '$ref' || typeof value !== 'string' || !value.startsWith(prefix)) return value;
    const name = value.slice(prefix.length);
    return prefix + (names.get(name) ?? name);
  });
}
