// What has to hold for the files of deploy/ beyond their schemas. Each function returns its faults.
import { readdirSync, readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';

const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const objectsOf = (path) => parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS());
const ofKind = (objects, kind) => objects.filter((object) => object.kind === kind);
const roleOf = ({ metadata }) => metadata.labels['app.kubernetes.io/component'];
const podOf = (deployment) => deployment.spec.template;

/** Secrets that a Deployment mounts. */
const secretsOf = (deployment) =>
  (podOf(deployment).spec.volumes ?? []).flatMap(({ secret }) => (secret ? [secret.secretName] : []));

/** The token of the first operator is an owner's: pods that the Internet reaches must not have it. */
function checkSecrets(objects) {
  const faults = [];
  const secrets = new Map(ofKind(objects, 'Secret').map(({ metadata, data }) => [metadata.name, Object.keys(data)]));
  const users = new Map();
  for (const deployment of ofKind(objects, 'Deployment')) {
    const role = roleOf(deployment);
    const names = secretsOf(deployment);
    const keys = names.flatMap((name) => secrets.get(name) ?? faults.push(`${role}: no Secret ${name}`));
    const env = podOf(deployment).spec.containers.flatMap((container) => container.env ?? []);
    const isTold = env.some(({ name }) => name === 'SVC_ADMIN_TOKEN_FILE');
    if (keys.includes('admin-token') !== (role === 'admin')) faults.push(`${role}: admin-token in its Secret`);
    if (isTold !== (role === 'admin')) faults.push(`${role}: SVC_ADMIN_TOKEN_FILE`);
    for (const key of ['master-key', 'mongodb-uri']) if (!keys.includes(key)) faults.push(`${role}: no ${key}`);
    for (const name of names) {
      if (users.has(name)) faults.push(`${role} and ${users.get(name)} share the Secret ${name}`);
      users.set(name, role);
    }
  }
  for (const { data } of ofKind(objects, 'ConfigMap'))
    if ('SVC_ADMIN_TOKEN_FILE' in data) faults.push('the ConfigMap of all roles names the admin token');
  return faults;
}

/** Pods with another configuration are other pods: a Deployment replaces them one after another. */
function checkRolling(objects, changed, { what, roles }) {
  const before = new Map(ofKind(objects, 'Deployment').map((each) => [roleOf(each), JSON.stringify(podOf(each))]));
  const after = ofKind(changed, 'Deployment').filter((each) => before.get(roleOf(each)) !== JSON.stringify(podOf(each)));
  const rolled = after.map(roleOf).sort().join();
  return rolled === roles ? [] : [`${what}: replaces the pods of ${rolled || 'none'}, not of ${roles}`];
}

function checkAvailability(objects) {
  const faults = [];
  const budgets = ofKind(objects, 'PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels);
  for (const deployment of ofKind(objects, 'Deployment')) {
    const role = roleOf(deployment);
    if (!budgets.some((labels) => labels['app.kubernetes.io/component'] === role)) faults.push(`${role}: no budget`);
    const spread = podOf(deployment).spec.topologySpreadConstraints.map(({ topologyKey }) => topologyKey);
    for (const key of ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'])
      if (!spread.includes(key)) faults.push(`${role}: is not spread by ${key}`);
  }
  return faults;
}

function checkNetwork(objects) {
  const faults = [];
  const policies = new Map(ofKind(objects, 'NetworkPolicy').map((policy) => [policy.metadata.name, policy.spec]));
  const ports = (policies.get('svc-gateway-collector')?.egress ?? []).flatMap((rule) => rule.ports ?? []);
  if (!ports.some(({ port }) => port === 4318)) faults.push('no way to a collector of traces');
  const providers = policies.get('svc-gateway-private-providers')?.egress ?? [];
  if (!providers.some(({ to }) => to?.some(({ ipBlock }) => ipBlock))) faults.push('no way to a private provider');
  return faults;
}

/** The command that asks a process of an image whether it is healthy, and how the image starts. */
function checkImages(services) {
  const faults = [];
  const containerfile = read('../Containerfile');
  const ofImage = (instruction) => JSON.parse(new RegExp(`^${instruction}.*?(\\[.*\\])$`, 'm').exec(containerfile)?.[1] ?? '[]');
  const [health, entry] = [ofImage('HEALTHCHECK'), ofImage('ENTRYPOINT')];
  const built = JSON.parse(/--entrypoint '(\[.*\])'/.exec(read('../build-image'))?.[1] ?? '[]');
  if (String(built) !== String(entry)) faults.push(`the images start by ${built} and by ${entry}`);
  // The server has an option for its memory, which a check does not need.
  const asked = [...entry.filter((word) => !word.startsWith('--')), 'check'];
  if (String(health) !== String(asked)) faults.push(`the image is asked by ${health}`);
  const ours = Object.entries(services).filter(([, { image }]) => image.includes('SVC_IMAGE'));
  for (const [name, { healthcheck }] of ours)
    if (String(healthcheck.test) !== String(['CMD', ...health])) faults.push(`${name}: is asked by ${healthcheck.test}`);
  return ours.length > 0 ? faults : ['no service of the image'];
}

function checkCompose() {
  const { services } = parse(read('../compose.yaml'), { merge: true });
  const faults = checkImages(services);
  for (const [name, { logging, entrypoint, image, secrets, environment }] of Object.entries(services)) {
    const options = logging?.options ?? {};
    if (!options['max-size'] || !(Number(options['max-file']) > 0)) faults.push(`${name}: its log grows without end`);
    const isDatabase = image.includes('MONGODB_IMAGE');
    if (isDatabase && !/mongod .*--wiredTigerCacheSizeGB \S+/.test(String(entrypoint)))
      faults.push(`${name}: takes half of the machine's memory for its cache`);
    const mayHave = environment?.SVC_ROLES === 'admin';
    if ((secrets ?? []).includes('admin-token') !== mayHave) faults.push(`${name}: admin-token`);
  }
  return faults;
}

function checkSystemd() {
  const faults = [];
  const unit = read('../systemd/svc-gateway@.service').replace(/^#.*$/gm, '');
  if (/admin-token|ADMIN_TOKEN/.test(unit)) faults.push('every process has the admin token');
  const dropIns = readdirSync(new URL('../systemd/svc-gateway@admin.service.d/', import.meta.url));
  const ofAdmin = dropIns.map((name) => read(`../systemd/svc-gateway@admin.service.d/${name}`)).join('\n');
  for (const line of [/^LoadCredential=admin-token:/m, /^Environment=SVC_ADMIN_TOKEN_FILE=%d\/admin-token$/m])
    if (!line.test(ofAdmin)) faults.push(`svc-gateway@admin has no ${line}`);
  return faults;
}

/** @param rendered paths of the example overlay, as it is, with another setting, and with another secret of the workers */
export function checkPolicies({ example, otherSetting, otherSecret }) {
  const objects = objectsOf(example);
  const parts = {
    kubernetes: [
      ...checkSecrets(objects),
      ...checkRolling(objects, objectsOf(otherSetting), { what: 'another setting', roles: 'admin,api,worker' }),
      ...checkRolling(objects, objectsOf(otherSecret), { what: 'another secret of the workers', roles: 'worker' }),
      ...checkAvailability(objects),
      ...checkNetwork(objects),
    ],
    compose: checkCompose(),
    systemd: checkSystemd(),
  };
  return Object.entries(parts).flatMap(([part, faults]) => faults.map((fault) => `${part}: ${fault}`));
}
