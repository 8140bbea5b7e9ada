import { Eta } from 'eta';
import type { Device } from '../../../contracts/verification.ts';
import type { Imprint } from '../../platform/config/imprint.ts';
import type { ApiError } from '../../platform/errors.ts';
import { issueToken } from '../../platform/http/csrf.ts';
import type { View } from '../flow/flow.ts';
import type { ClientDirectory } from '../flow/start.ts';
import type { OpenLink } from '../handoff/pairing.ts';
import type { Session } from '../session/session.ts';
import { claimsAskedFor, formVersionOf, stepOf } from '../session/steps.ts';
import { assetAddresses, templates } from './assets.ts';
import { timeInWords } from './formatters.ts';
import { isolated, type Language, languageNames, languages } from './languages.ts';
import { legalOf, spanInWords } from './legal.ts';
import { partnerOnPages } from './partner-on-pages.ts';
import { type ProblemContext, problemOf } from './problems.ts';
import type { PageContent } from './security-headers.ts';
import { timeLeft } from './time-left.ts';
import { inWords, refreshOf, viewModelOf } from './view-models.ts';

interface Dependencies {
  directory: Pick<ClientDirectory, 'client'>;
  /** Root of all links, without a trailing slash. */
  baseUrl: string;
  clock: { now(): number };
  imprint: Imprint;
  /** Milliseconds that answers are kept at most. */
  claimLifetime: number;
}

export interface PageContext {
  /** Where the page's form is sent to. */
  action: string;
  /** The secret in the browser's cookie. */
  secret: string;
  language: Language;
  /** Relative; the address of the page in another language, without its code. */
  choiceAddress: string;
  /** Which of the session's devices the page is for. */
  device: Device;
  /** Whether this browser is on a phone already. */
  onPhone: boolean;
}

/** The phone's part ends with the confirmation, the computer's with the return to the partner. */
const steps = {
  computer: ['consent', 'verify', 'done'],
  phone: ['consent', 'verify', 'confirm'],
} as const;

interface Failure extends ProblemContext, Pick<PageContext, 'language' | 'choiceAddress'> {
  /** Id of the request, for support. */
  requestId: string;
  /** Where trying again begins. */
  retryAt: string;
  /** The site that the user came from, where there is no session. */
  from: URL | undefined;
}

export interface Page extends PageContent {
  status: number;
  html: string;
  /** The `Refresh` header: when the browser shall ask for this page again, or for another one. */
  refresh?: string;
}

export interface Pages {
  show(view: View, context: PageContext): Promise<Page>;
  /** Where a phone types the code of its link. */
  link(link: OpenLink, context: Omit<PageContext, 'onPhone' | 'device'> & { wrong: boolean }): Promise<Page>;
  /** A page of a user's own data, about no session. @param own what its template needs beyond what every page has */
  plain(
    template: string,
    context: Pick<PageContext, 'language' | 'choiceAddress'>,
    own: { status?: number; passkey?: string | undefined } & Record<string, unknown>,
  ): Page;
  error(error: ApiError, failure: Failure): Promise<string>;
}

/** Renders the hosted pages. Templates escape everything by default. */
export function createPages({ directory, baseUrl, clock, imprint, claimLifetime }: Dependencies): Pages {
  const eta = new Eta({ views: templates, cache: true });
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  const { brandStyle, logo, ...files } = assetAddresses(`${basePath}/verify/assets`);
  const common = ({ language, choiceAddress }: Pick<PageContext, 'language' | 'choiceAddress'>) => ({
    ...files,
    yourData: `${basePath}/verify/you`,
    m: languages[language],
    languages: languageNames.map((each) => ({ ...each, href: choiceAddress + each.code })),
    ...legalOf(imprint, languages[language]),
  });

  /** The partner as its users know it, by the client's settings. */
  async function partnerOf({ clientId, redirectUri }: Session, language: Language) {
    const { client, partner } = (await directory.client(clientId)) ?? {};
    const { brandName, brandColor, purpose, privacyUrl } = client ?? {};
    const settings = { brandName, brandColor, purpose, privacyUrl, redirectUri };
    return partnerOnPages(
      { name: partner?.name ?? '', logo: partner?.logo, ...settings },
      { language, imprint, addresses: { brandStyle, logo } },
    );
  }

  function timeOf({ expiresAt }: Session, language: Language) {
    const { minutes, ...rest } = timeLeft(expiresAt.getTime(), clock.now());
    return { ...rest, text: timeInWords(language, minutes, 'minute') };
  }

  /** Data that every page of a session has. */
  async function about(session: Session, context: Omit<PageContext, 'onPhone'>) {
    const { language, action, secret, device } = context;
    return {
      ...common(context),
      ...(await partnerOf(session, language)),
      time: timeOf(session, language),
      testMode: session.mode === 'test',
      action,
      csrf: issueToken(secret),
      formVersion: formVersionOf(session, stepOf(session, clock.now())),
      steps: steps[device],
      keptFor: spanInWords(claimLifetime, language),
    };
  }

  return {
    async show(view, context) {
      const data = await about(view.session, context);
      const requestContext = { ...context, baseUrl, now: clock.now() };
      const { template, scripted = false, status = 200, ...own } = viewModelOf(view, requestContext);
      const refresh = refreshOf(view, { now: clock.now(), usual: data.time.refreshAfter });
      return {
        status,
        html: eta.render(`./${template}`, { ...data, scripted, ...own }),
        leadsTo: data.origin,
        scripted: scripted || own['passkey'] !== undefined,
        ...(refresh === undefined ? {} : { refresh }),
      };
    },

    async link({ session, handoff }, context) {
      const data = await about(session, { ...context, device: 'phone' });
      const computer = inWords(handoff.computer, data.m);
      const claims = claimsAskedFor(session);
      return {
        status: 200,
        html: eta.render('./code', { ...data, step: 'verify', computer, claims, wrong: context.wrong }),
      };
    },

    plain: (template, context, { status = 200, ...own }) => ({
      status,
      html: eta.render(`./${template}`, {
        ...common(context),
        ...context,
        ownStyle: files.yourDataStyle,
        ...own,
      }),
      scripted: own.passkey !== undefined,
    }),

    async error(error, { language, choiceAddress, requestId, retryAt, from, ...place }) {
      const { name, outcome, ...rest } = problemOf(error, place);
      const { m, ...files } = common({ language, choiceAddress });
      // If the database cannot be reached, the page omits the partner's name.
      const partner = place.session && (await partnerOf(place.session, language).catch(() => undefined));
      const told = outcome && m.outcome[outcome];
      return eta.render('./problem', {
        ...files,
        ...partner,
        ...rest,
        m,
        problem: m.problems[name],
        good: name === 'finished',
        outcome: typeof told === 'function' ? partner && told(partner.partner) : told,
        retryAt,
        ...(name === 'invalid' && from
          ? { back: `${from.origin}/`, isolatedHost: isolated(from.host, m) }
          : {}),
        ...(place.device === 'computer' && partner ? { back: `${partner.origin}/` } : {}),
        requestId,
      });
    },
  };
}
