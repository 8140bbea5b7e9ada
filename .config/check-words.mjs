// Refuses words that the vocabulary has retired, in code, tests and documentation. Names on the wire and quotations of the contract stay.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const retired =
  /\b(nobody|somebody|whoever|anybody|everybody|vouch(es|ed|ing)?|meanwhile|anew|strangers?|is told of|are told of|is had|twice is once|convoy|linger(s|ed|ing)?|surroundings|whereabouts|\w*patience\w*|creditors|starved|decisions\.md)\b/giu;

/** Files that may use a retired word, each with its reason. */
const allowed = [
  { in: 'docs/interface-0.8.0.md', because: 'the contract, word for word' },
  { in: 'test/webhooks/egress/signature.test.ts', because: 'a published test vector, word for word' },
];

const files = execFileSync(
  'git',
  ['ls-files', '--', 'server', 'cli', 'contracts', 'embedded-database', 'sdk', 'docs', 'test', '*.md', '.config'],
  { encoding: 'utf8' },
)
  .split('\n')
  .filter((path) => /\.(ts|mjs|eta|css|md|py|php)$/.test(path) && path !== '.config/check-words.mjs');

let faults = 0;
for (const path of files) {
  for (const [n, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    const words = line.match(retired);
    if (!words || allowed.some((one) => one.in === path)) continue;
    console.error(`${path}:${n + 1}: ${words.join(', ')}`);
    faults += 1;
  }
}
if (faults > 0) process.exit(1);
console.log(`no retired words in ${files.length} files`);
