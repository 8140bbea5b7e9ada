import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The path of the command line, from the sources or from `dist`. */
const program = fileURLToPath(
  new URL(
    import.meta.url.includes('/dist/') ? '../../../cli/bin/svcadmin.js' : '../../cli/bin/svcadmin.js',
    import.meta.url,
  ),
);

export class SvcadminError extends Error {
  /** 4 is "not found", 5 "refused". */
  readonly exitCode: number;
  /** The error code, such as `not_found`. */
  readonly code: string;
  constructor(command: string, exitCode: number, stderr: string) {
    super(`svcadmin ${command} ended with ${exitCode}: ${stderr.trim()}`);
    this.name = 'SvcadminError';
    this.exitCode = exitCode;
    this.code = /"code":"(\w+)"/.exec(stderr)?.[1] ?? '';
  }
}

/** Runs `svcadmin <args> --json`. @returns the printed value @throws SvcadminError */
export function svcadmin<Value>(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Value> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [program, ...args, '--json'],
      { env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        if (error) reject(new SvcadminError(args.slice(0, 2).join(' '), Number(error.code ?? 1), stderr));
        else resolve(JSON.parse(stdout) as Value);
      },
    );
  });
}
