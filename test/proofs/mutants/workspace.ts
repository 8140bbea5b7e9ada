import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { createVitest, type TestModule } from 'vitest/node';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import type { Mutation } from './mutation.ts';

/** The result of the tests of a mutation. */
export interface TestResult {
  /** The number of tests that ran. */
  total: number;
  failed: string[];
}

const compilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2023,
  rewriteRelativeImportExtensions: true,
};

/** Copies the present working tree with its build and its libraries. @returns the directory of the copy */
function copyTree(): string {
  const root = temporaryFolder('mutants');
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  for (const file of listed.split('\n').filter((path) => path !== '' && existsSync(path))) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(file, join(root, file));
  }
  cpSync('dist', join(root, 'dist'), { recursive: true });
  symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'));
  return root;
}

/**
 * Opens a copy of the repository with a vitest process, which keeps compiled files between mutations.
 * @param options `quick`: only tests of the quick tier run. Tests that are slow by their time find faults too
 */
export async function openWorkspace({ quick }: { quick: boolean }) {
  const root = copyTree();
  process.chdir(root);
  const config = join(root, 'vitest.config.ts');
  if (!quick) process.env['SVC_TEST_TIERS'] = 'off';
  /** The test files that have ended in the present run. */
  const ended: TestModule[] = [];
  const vitest = await createVitest('test', {
    config,
    root,
    watch: false,
    bail: 1,
    // Two copies run beside each other.
    maxWorkers: 2,
    project: ['quick*'],
    reporters: [{ onTestModuleEnd: (module) => void ended.push(module) }],
  });

  /** Writes a source file and its built file. */
  function write(file: string, text: string): void {
    const path = join(root, file);
    writeFileSync(path, text);
    vitest.invalidateFile(path);
    const built = join(root, 'dist', file.replace(/\.ts$/, '.js'));
    if (existsSync(built)) writeFileSync(built, ts.transpileModule(text, { compilerOptions }).outputText);
  }

  /** Runs test files in the copy until the first failure. */
  async function runTests(tests: readonly string[]): Promise<TestResult> {
    const files = tests.map((test) => join(root, `test/${test}.test.ts`));
    const specifications = await vitest.globTestSpecifications(files);
    ended.length = 0;
    await vitest.runTestSpecifications(specifications);
    const all = ended.flatMap((module) => [...module.children.allTests()]);
    const failed = all.filter((test) => test.result().state === 'failed').map((test) => test.fullName);
    // A failed hook leaves its tests without a result. A file without tests could not be loaded.
    const broken = ended.filter((module) => module.state() === 'failed' && module.children.size > 0);
    return {
      total: all.length,
      failed:
        failed.length > 0
          ? failed
          : broken.map(({ relativeModuleId }) => `${relativeModuleId}, before its tests`),
    };
  }

  return {
    runTests,

    /** Runs the tests of a mutation with its fault. @throws if its text does not occur exactly once */
    async runMutation({ file, find, replace, tests }: Mutation): Promise<TestResult> {
      const before = readFileSync(join(root, file), 'utf8');
      const times = before.split(find).length - 1;
      if (times !== 1) throw new Error(`the text is there ${times} times`);
      write(
        file,
        before.replace(find, () => replace),
      );
      try {
        return await runTests(tests);
      } finally {
        write(file, before);
      }
    },

    async close(): Promise<void> {
      await vitest.close();
      process.chdir('/');
    },
  };
}
