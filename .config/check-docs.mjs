// Refuses lines of documentation over 120 characters, sentences over 25 words, and rows that are in no table. Code and links count as
// one word. Refuses names of tests and code in guides for contributors that are not in the repository.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const documentation = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'docs/*.md', 'sdk/**/*.md', 'test/*.md'];
const longestLine = 120;
const mostWords = 25;

/** Pages that are exempt from a rule, each with its reason. */
const exempt = {
  'docs/interface-0.8.0.md': { rules: ['line', 'sentence'], because: 'the contract, word for word' },
  'docs/contract-coverage.md': { rules: ['sentence'], because: 'it quotes the contract' },
};

const withoutCode = (text) => text.replaceAll(/^```[\s\S]*?^```$/gm, '');

/** Headings are no sentences. Paragraphs, items of a list and cells of a table are read one by one. */
const passagesOf = (text) =>
  withoutCode(text)
    .split(/\n\s*\n|\n(?=#|\||\s*- |\s*\d+\. )/)
    .map((block) => block.trim())
    .filter((block) => !block.startsWith('#'))
    .flatMap((block) => (block.startsWith('|') ? block.split(/(?<!\\)\|/) : [block]));

const sentencesOf = (passage) =>
  passage
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .split(/(?<=[.?!][)"*]*)\s+/)
    .map((sentence) => sentence.trim());

const wordsOf = (sentence) => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

const cellsOf = (row) => row.split(/(?<!\\)\|/).length - 2;
const isSeparator = (line = '') => /^\|(?: *:?-+:? *\|)+$/.test(line);

/** The rows that a reader sees as a paragraph or without their last cells. A table begins with a header and a separator. */
function misplacedRows(text) {
  // A block of code keeps its lines, so that the numbers of lines stay right.
  const lines = text.replaceAll(/^```[\s\S]*?^```$/gm, (block) => block.replaceAll(/[^\n]/g, '')).split('\n');
  const found = [];
  let columns;
  for (const [n, line] of lines.entries()) {
    if (!line.startsWith('|')) columns = undefined;
    else if (columns === undefined && !isSeparator(lines[n + 1])) found.push([n, 'a row outside a table with a header']);
    else if (columns === undefined) columns = cellsOf(line);
    else if (cellsOf(line) !== columns) found.push([n, `${cellsOf(line)} cells in a table of ${columns}`]);
  }
  return found;
}

const git = (...parameters) => spawnSync('git', parameters, { encoding: 'utf8' });
const testFiles = git('ls-files', '-co', '--exclude-standard', 'test').stdout.split('\n').filter((path) => path.endsWith('.test.ts'));
const isInSource = (name) => git('grep', '-qwF', '--untracked', '-e', name, '--', '*.ts', '*.mjs', '*.json').status === 0;

/** What a guide for contributors names and the repository does not have: tests of `npm run t`, and names of code in camel case. */
function unknownNames(text) {
  const tests = [...text.matchAll(/npm run t -- ([a-z][\w./-]+)/g)].map(([, name]) => name);
  const code = [...withoutCode(text).matchAll(/`([A-Za-z]+[a-z][A-Z]\w*)`/g)].map(([, name]) => name);
  return [
    ...tests.filter((name) => !testFiles.some((path) => path.includes(name))),
    ...[...new Set(code)].filter((name) => !isInSource(name)),
  ];
}
const guides = ['CONTRIBUTING.md', 'docs/architecture.md', 'test/README.md'];

const pages = git('ls-files', '--', ...documentation).stdout.trim().split('\n');
let faults = 0;
function fault(message) {
  console.error(message);
  faults += 1;
}

for (const path of pages) {
  const text = readFileSync(path, 'utf8');
  for (const [n, what] of misplacedRows(text)) fault(`${path}:${n + 1}: ${what}`);
  if (guides.includes(path)) for (const name of unknownNames(text)) fault(`${path}: nothing is named ${name}`);
  const rules = ['line', 'sentence'].filter((rule) => !exempt[path]?.rules.includes(rule));
  if (rules.includes('line'))
    for (const [n, line] of text.split('\n').entries())
      if ([...line].length > longestLine) fault(`${path}:${n + 1}: ${[...line].length} characters`);
  if (rules.includes('sentence'))
    for (const sentence of passagesOf(text).flatMap(sentencesOf))
      if (wordsOf(sentence) > mostWords)
        fault(`${path}: ${wordsOf(sentence)} words: ${sentence.replaceAll(/\s+/g, ' ')}`);
}
if (faults > 0) process.exit(1);
console.log(`${pages.length} pages of documentation: lines and sentences are short enough, and rows are in tables`);
