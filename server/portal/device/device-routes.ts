import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import {
  DeviceAuthorization,
  DeviceAuthorizationRequest,
  DeviceLogin,
  DeviceToken,
  DeviceTokenRequest,
  deviceGrantType,
} from '../../../contracts/device-login.ts';
import { environmentHeader } from '../../../contracts/environment-header.ts';
import { ApiError } from '../../platform/errors.ts';
import { notePartner } from '../../platform/http/answer-log.ts';
import { bearerChallenge, bearerToken } from '../../platform/http/bearer.ts';
import { subscriberOf } from '../../platform/http/client-network.ts';
import { codeHeader, type ErrorRendering, renderErrors } from '../../platform/http/errors.ts';
import { acceptForms, requireOnce, withoutEmpty } from '../../platform/http/parameters.ts';
import type { RequestLimit } from '../../platform/http/request-limits.ts';
import { freshForMs, type SignedIn } from '../sign-in.ts';
import { type DeviceLogins, pollInterval, requestLifetimeMs } from './device-logins.ts';

/** Limits a minute for one address: new logins, and polls. */
export const devicesPerMinute = { logins: 10, polls: 60 };

interface Dependencies {
  logins: DeviceLogins;
  limit: RequestLimit;
  /** Root of all links, without a trailing slash. */
  baseUrl: string;
  environment: string;
  clock: { now(): number };
  partnerName: (partnerId: string) => Promise<string>;
  /** Finds the member of a token, as every call of `/portal/trpc` does. */
  find: (request: FastifyRequest, token: string) => Promise<SignedIn | undefined>;
  noteEnd: (found: SignedIn, request: FastifyRequest) => Promise<void>;
}

/** The error format of RFC 8628 3.5 and RFC 6749 5.2. */
const asDeviceError: ErrorRendering = (error, _request, reply) =>
  reply.header(codeHeader, error.code).send({
    error: error.code === 'device_login_denied' ? 'access_denied' : error.code,
    error_description: error.message,
  });

/** Removes control characters, which would move the cursor of a terminal that prints the name. */
const nameOf = (given: string | undefined): string => given?.replace(/\p{C}/gu, ' ').trim() || 'svc';

/** The endpoints by which programs sign a member in (RFC 8628), at `/portal/device`. */
export function deviceRoutes(dependencies: Dependencies): FastifyPluginAsync {
  const { logins, limit, baseUrl, environment, clock, partnerName, find, noteEnd } = dependencies;

  async function count({ ip }: FastifyRequest, what: keyof typeof devicesPerMinute): Promise<void> {
    const { allowed, retryAfter } = await limit(
      `portal device ${what}`,
      subscriberOf(ip),
      devicesPerMinute[what],
    );
    if (!allowed) throw new ApiError('rate_limited', { retryAfter });
  }

  async function requireLogin(request: FastifyRequest): Promise<SignedIn> {
    const { authorization } = request.headers;
    const token = bearerToken(authorization);
    const found = token === undefined ? undefined : await find(request, token);
    if (found) return found;
    if (token === undefined) await count(request, 'polls');
    const description = 'The login has ended, or was never made';
    throw new ApiError('invalid_token', {
      description,
      headers: bearerChallenge(authorization, description),
    });
  }

  async function view({ member, session }: SignedIn): Promise<DeviceLogin> {
    const { _id: memberId, email = null, role, partnerId } = member;
    const changesUntil = session.passkeyAt.getTime() + freshForMs;
    return {
      memberId,
      email,
      role,
      partnerId,
      partner: await partnerName(partnerId),
      environment,
      name: session.device?.name ?? '',
      createdAt: session.createdAt.toISOString(),
      expiresAt: session.expiresAt.toISOString(),
      changesUntil: changesUntil > clock.now() ? new Date(changesUntil).toISOString() : null,
    };
  }

  const routes: FastifyPluginAsyncZod = async (scope) => {
    acceptForms(scope);
    renderErrors(scope, asDeviceError);
    scope.addHook('onRequest', async (_request, reply) => {
      void reply.headers({ 'cache-control': 'no-store', [environmentHeader]: environment });
    });
    scope.addHook('preValidation', async (request) => {
      if (request.method !== 'POST') return;
      requireOnce(request.body);
      request.body = withoutEmpty(request.body ?? {});
    });

    scope.post(
      '/authorization',
      { schema: { body: DeviceAuthorizationRequest, response: { 200: DeviceAuthorization }, hide: true } },
      async (request) => {
        await count(request, 'logins');
        const name = nameOf(request.body.client_name);
        const { deviceCode, userCode } = await logins.start({ name, address: request.ip });
        return {
          device_code: deviceCode,
          user_code: userCode,
          verification_uri: `${baseUrl}/portal/devices`,
          expires_in: requestLifetimeMs / 1000,
          interval: pollInterval,
        };
      },
    );

    scope.post(
      '/token',
      { schema: { body: DeviceTokenRequest, response: { 200: DeviceToken }, hide: true } },
      async (request) => {
        await count(request, 'polls');
        if (request.body.grant_type !== deviceGrantType)
          throw new ApiError('unsupported_grant_type', {
            description: `grant_type must be ${deviceGrantType}`,
          });
        const { token, role, expiresAt } = await logins.poll(request.body.device_code);
        const seconds = Math.floor((expiresAt.getTime() - clock.now()) / 1000);
        return { access_token: token, token_type: 'Bearer' as const, expires_in: seconds, scope: role };
      },
    );

    scope.get('/login', { schema: { response: { 200: DeviceLogin }, hide: true } }, async (request) =>
      view(await requireLogin(request)),
    );

    scope.delete('/login', { schema: { hide: true } }, async (request, reply) => {
      const found = await requireLogin(request);
      notePartner(request, found.member.partnerId);
      await logins.end(found.session._id, found.member._id);
      await noteEnd(found, request);
      return reply.status(204).send();
    });
  };
  return routes as FastifyPluginAsync;
}
