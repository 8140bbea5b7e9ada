// Every locked package names its digest, which npm holds the download against, and no registry's address.
// No package of the production tree runs a script at its installation, or is one that only tests use.
import { readFileSync } from 'node:fs';

const faults = ['package-lock.json', 'bench/package-lock.json', 'test/recipes/package-lock.json', 'deploy/checks/package-lock.json'].flatMap((path) =>
  Object.entries(JSON.parse(readFileSync(path, 'utf8')).packages)
    .filter(([at, { link }]) => at !== '' && !link)
    .flatMap(([at, { integrity, resolved }]) => [
      ...(integrity ? [] : [`${path}: ${at} has no integrity`]),
      ...(resolved ? [`${path}: ${at} names a registry`] : []),
    ]),
);
const onlyForTests = /^node_modules\/(?:@owf|@sd-jwt|@auth0|@openid4vc|cbor-x|.*cbor-extract)/;
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
for (const [at, { dev, devOptional, hasInstallScript }] of Object.entries(packages)) {
  if (dev || devOptional) continue;
  if (hasInstallScript) faults.push(`package-lock.json: ${at} runs a script when it is installed in production`);
  if (onlyForTests.test(at)) faults.push(`package-lock.json: ${at} is for tests, and is installed in production`);
}
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
