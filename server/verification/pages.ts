import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { ErrorCode } from '../../contracts/errors.ts';
import type { ApiError } from '../platform/errors.ts';
import type { Asset } from './assets.ts';
import { issueToken } from './csrf.ts';
import type { View } from './flow.ts';
import { en, type ProblemName } from './pages/messages/en.ts';
import { claimsAskedFor } from './sessions.ts';
import type { VerificationSource } from './sources/source.ts';
import type { ClientDirectory } from './start.ts';

/** Beside this file, in the source tree and in the build alike. */
const views = fileURLToPath(new URL('./pages', import.meta.url));

interface Dependencies {
  directory: Pick<ClientDirectory, 'client'>;
  sources: ReadonlyMap<string, VerificationSource>;
  /** Path of the base URL, without a trailing slash. */
  basePath: string;
}

interface FormContext {
  /** Where the page's form is sent to. */
  action: string;
  /** The secret in the browser's cookie. */
  secret: string;
}

export interface Pages {
  assets: readonly Asset[];
  step(
    view: Extract<View, { kind: 'page' }>,
    context: FormContext,
  ): Promise<{ html: string; formTargets: string[] }>;
  /** `url` is where the request went: a form that failed can be shown again there. */
  error(error: ApiError, request: { id: string; url: string }): string;
}

/** One asset of one or more files of the pages. */
function loadAsset(name: string, type: string, files: readonly string[]): Asset {
  const content = Buffer.concat(files.map((file) => readFileSync(`${views}/${file}`)));
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return { name: name.replace('.', `.${hash}.`), type, content };
}

/** Which page tells of an error; what a person can do nothing about is all the same to them. */
const problems: Partial<Record<ErrorCode, ProblemName>> = {
  session_not_found: 'expired',
  unauthorized: 'otherBrowser',
  conflict: 'finished',
  cross_site_request: 'forged',
  route_not_found: 'notFound',
  method_not_allowed: 'notFound',
  invalid_request: 'invalid',
  invalid_redirect_uri: 'invalid',
};

/** Problems that showing the session's page again may solve. */
const retryable: readonly ProblemName[] = ['forged', 'unavailable'];

/** Renders the hosted pages. Templates escape everything by default. */
export function createPages({ directory, sources, basePath }: Dependencies): Pages {
  const eta = new Eta({ views, cache: true });
  const style = loadAsset('style.css', 'text/css; charset=utf-8', ['theme.css', 'parts.css']);
  const icon = loadAsset('icon.svg', 'image/svg+xml', ['icon.svg']);
  const assetPath = `${basePath}/verify/assets`;
  const common = { m: en, style: `${assetPath}/${style.name}`, icon: `${assetPath}/${icon.name}` };

  return {
    assets: [style, icon],

    async step({ session, beginning }, { action, secret }) {
      const found = await directory.client(session.clientId);
      const back = new URL(session.redirectUri);
      const data = {
        ...common,
        step: beginning ? 'authenticate' : 'consent',
        action,
        csrf: issueToken(secret),
        partner: found?.partner.name ?? '',
        host: back.host,
        testMode: session.mode === 'test',
        claims: claimsAskedFor(session),
        choices: beginning?.choices ?? [],
      };
      return {
        html: eta.render(beginning ? './people' : './consent', data),
        formTargets: [back.origin, ...(sources.get(session.source)?.origins ?? [])],
      };
    },

    error(error, { id: requestId, url }) {
      const inSession = url.includes('/session/');
      // Within a session it is a form that is wrong, not the request of the partner's application.
      const code = inSession && error.code === 'invalid_request' ? 'cross_site_request' : error.code;
      const problem = problems[code] ?? 'unavailable';
      const detail = problem === 'invalid' ? error.message : undefined;
      const retry = inSession && retryable.includes(problem);
      return eta.render('./problem', { ...common, problem: en.problems[problem], detail, retry, requestId });
    },
  };
}
