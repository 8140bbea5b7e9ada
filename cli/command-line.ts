import { Config, flush, run, settings } from '@oclif/core';
import { exits, type Failure, renderFailure, toFailure } from './failure.ts';

/** What oclif exits with when no command has that name. */
const unknownCommand = 127;

/** Whether the caller is a program: `--json` before any `--`. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}

function exitOf(error: unknown): number | undefined {
  return (error as { oclif?: { exit?: number } } | undefined)?.oclif?.exit;
}

function judge(error: unknown): Failure {
  if (exitOf(error) !== unknownCommand) return toFailure(error, 'the server');
  const message = (error as Error).message;
  return { code: 'unknown_command', message, exit: exits.usage };
}

/**
 * Runs one command line. Its value goes to stdout; everything else, failures too, to stderr.
 * @param root the file URL of the executable, inside the package
 * @returns the exit code: the same with and without `--json`
 */
export async function runCommandLine(argv: string[], root: string): Promise<number> {
  // The commands are compiled already, whatever NODE_ENV says.
  settings.enableAutoTranspile = false;
  try {
    const config = await Config.load(root);
    config.pjson.oclif.helpClass = './dist/cli/help';
    await run(argv, config);
    await flush();
    // A command that looked and found faults says so by its exit code, not by an exception.
    return Number(process.exitCode ?? exits.ok);
  } catch (error) {
    // `--version` and the like end by an exception that is none.
    if (exitOf(error) === exits.ok) return exits.ok;
    const failure = judge(error);
    process.stderr.write(`${renderFailure(failure, wantsJson(argv))}\n`);
    return failure.exit;
  }
}
