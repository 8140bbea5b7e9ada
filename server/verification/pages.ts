import { Eta } from 'eta';
import type { ApiError } from '../platform/errors.ts';
import { assetAddresses, pagesDirectory } from './assets.ts';
import { issueToken } from './csrf.ts';
import type { View } from './flow.ts';
import { isolated, type Language, languages } from './languages.ts';
import { problemOf } from './problems.ts';
import { claimsAskedFor, type Session } from './sessions.ts';
import type { ClientDirectory } from './start.ts';
import { timeLeft } from './time-left.ts';

interface Dependencies {
  directory: Pick<ClientDirectory, 'client'>;
  /** Path of the base URL, without a trailing slash. */
  basePath: string;
  clock: { now(): number };
}

interface FormContext {
  /** Where the page's form is sent to. */
  action: string;
  /** The secret in the browser's cookie. */
  secret: string;
  language: Language;
}

interface Failure {
  language: Language;
  /** The request's id: what support is asked about. */
  requestId: string;
  /** Whether the request was about a session. */
  inSession: boolean;
  /** That session, where it is known. */
  session: Session | undefined;
}

export interface Page {
  html: string;
  /** Origins to which its form may lead in the end. */
  formTargets: string[];
  /** Seconds after which the browser shall ask for it again. */
  refreshAfter: number;
}

export interface Pages {
  step(view: Extract<View, { kind: 'page' }>, context: FormContext): Promise<Page>;
  error(error: ApiError, failure: Failure): Promise<string>;
}

/** Renders the hosted pages. Templates escape everything by default. */
export function createPages({ directory, basePath, clock }: Dependencies): Pages {
  const eta = new Eta({ views: pagesDirectory, cache: true });
  const { brandStyle, ...files } = assetAddresses(`${basePath}/verify/assets`);
  const common = (language: Language) => ({ ...files, m: languages[language] });

  /** The partner as its users know it, by the client's settings. */
  async function partnerOf({ clientId, redirectUri }: Session, language: Language) {
    const { client, partner } = (await directory.client(clientId)) ?? {};
    const name = client?.brandName ?? partner?.name ?? '';
    const { origin, host } = new URL(redirectUri);
    return {
      partner: isolated(name, languages[language]),
      initial: Array.from(name)[0]?.toUpperCase() ?? '',
      brandStyle: client?.brandColor && brandStyle(client.brandColor),
      origin,
      host,
      isolatedHost: isolated(host, languages[language]),
    };
  }

  function timeOf({ expiresAt }: Session, language: Language) {
    const { minutes, ...rest } = timeLeft(expiresAt.getTime(), clock.now());
    const inWords = new Intl.NumberFormat(language, { style: 'unit', unit: 'minute', unitDisplay: 'long' });
    return { ...rest, text: inWords.format(minutes) };
  }

  return {
    async step({ session, beginning }, { action, secret, language }) {
      const partner = await partnerOf(session, language);
      const time = timeOf(session, language);
      const data = {
        ...common(language),
        ...partner,
        step: beginning ? 'verify' : 'consent',
        stage: beginning ? 'authenticate' : 'consent',
        action,
        csrf: issueToken(secret),
        testMode: session.mode === 'test',
        time,
        claims: claimsAskedFor(session),
        choices: beginning?.choices ?? [],
      };
      return {
        html: eta.render(beginning ? './people' : './consent', data),
        formTargets: [partner.origin],
        refreshAfter: time.refreshAfter,
      };
    },

    async error(error, { language, requestId, ...place }) {
      const { name, outcome, ...rest } = problemOf(error, place);
      const { m, ...files } = common(language);
      // While the database is away the page has to do without the partner's name.
      const partner = place.session && (await partnerOf(place.session, language).catch(() => undefined));
      const told = outcome && m.outcome[outcome];
      return eta.render('./problem', {
        ...files,
        ...partner,
        ...rest,
        m,
        problem: m.problems[name],
        outcome: typeof told === 'function' ? partner && told(partner.partner) : told,
        back: partner && `${partner.origin}/`,
        requestId,
      });
    },
  };
}
