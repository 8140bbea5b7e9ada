// Every locked package names its digest, which npm holds the download against, and no registry's address.
import { readFileSync } from 'node:fs';

const faults = ['package-lock.json', 'bench/package-lock.json', 'test/recipes/package-lock.json', 'deploy/checks/package-lock.json'].flatMap((path) =>
  Object.entries(JSON.parse(readFileSync(path, 'utf8')).packages)
    .filter(([at, { link }]) => at !== '' && !link)
    .flatMap(([at, { integrity, resolved }]) => [
      ...(integrity ? [] : [`${path}: ${at} has no integrity`]),
      ...(resolved ? [`${path}: ${at} names a registry`] : []),
    ]),
);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
