import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import {
  DeviceAuthorization,
  DeviceAuthorizationRequest,
  DeviceLogin,
  DeviceToken,
  DeviceTokenRequest,
  deviceGrantType,
} from '../../../../contracts/device-login.ts';
import { environmentHeader } from '../../../../contracts/environment-header.ts';
import type { ErrorCode } from '../../../../contracts/errors.ts';
import { ApiError, oauthBody } from '../../../platform/errors.ts';
import { notePartner } from '../../../platform/http/answer-log.ts';
import { bearerChallenge, bearerToken } from '../../../platform/http/bearer.ts';
import { codeHeader, type ErrorRendering, renderErrors } from '../../../platform/http/errors.ts';
import { subscriberOf } from '../../../platform/http/limits/client-network.ts';
import { acceptForms, requireOnce, withoutEmpty } from '../../../platform/http/parameters.ts';
import { ownUnknownRoutes } from '../../../platform/http/unknown-routes.ts';
import { freshUntil, type SignedIn } from '../member-sessions.ts';
import type { PortalParts } from '../parts.ts';
import { pollInterval, requestLifetimeMs } from './device-logins.ts';

/** Limits a minute for one address: new logins, and polls. */
export const devicesPerMinute = { logins: 10, polls: 60 };

/**
 * The `error` of the codes that RFC 8628 3.5 adds. In our error table, `access_denied` is about users and has another status. So a
 * refused login has a code of its own there.
 */
const deviceErrors: Partial<Record<ErrorCode, string>> = {
  authorization_pending: 'authorization_pending',
  slow_down: 'slow_down',
  expired_token: 'expired_token',
  device_login_denied: 'access_denied',
};

/** Sends an error in the format of RFC 6749 5.2, as the OAuth endpoints do. */
const asDeviceError: ErrorRendering = (error, _request, reply) => {
  const body = oauthBody(error);
  return reply
    .header(codeHeader, error.code)
    .send({ ...body, error: deviceErrors[error.code] ?? body.error });
};

/**
 * The name of a program's machine; `svc` if the program gives none. Control characters become spaces, because they would move the
 * cursor of a terminal that prints the name.
 */
const nameOf = (given: string | undefined): string => given?.replace(/\p{C}/gu, ' ').trim() || 'svc';

/** The endpoints by which programs sign a member in (RFC 8628), at `/portal/device`. */
export function deviceRoutes(parts: PortalParts): FastifyPluginAsync {
  const { logins, limit, clock, partnerName, calls, noteDevice } = parts;
  const { baseUrl, environment } = parts.about;

  /** Counts a request against the limit of its address, or of its IPv6 network. @throws ApiError `rate_limited` */
  async function requireAllowance(
    kind: keyof typeof devicesPerMinute,
    { ip }: FastifyRequest,
  ): Promise<void> {
    const perMinute = devicesPerMinute[kind];
    await limit(`portal device ${kind}`, subscriberOf(ip), { perMinute });
  }

  /** Returns the login of the request's token. @throws ApiError `invalid_token`, `rate_limited` */
  async function requireLogin(request: FastifyRequest): Promise<SignedIn> {
    const { authorization } = request.headers;
    const token = bearerToken(authorization);
    let login: SignedIn | undefined;
    // Each request counts against a limit: with a token in `admitToken`, without one here, like a poll.
    if (token === undefined) await requireAllowance('polls', request);
    else login = await calls.admitToken(request, token);
    if (login) return login;
    const description = 'The login has ended, or was never made';
    throw new ApiError('invalid_token', {
      description,
      headers: bearerChallenge(authorization, description),
    });
  }

  /** Describes a login. `changesUntil` is null if the program may not change secrets now. */
  async function view({ member, session }: SignedIn): Promise<DeviceLogin> {
    const { _id: memberId, email = null, role, partnerId } = member;
    const changesUntil = freshUntil(session);
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
    ownUnknownRoutes(scope);
    scope.addHook('onRequest', async (_request, reply) => {
      void reply.headers({ 'cache-control': 'no-store', [environmentHeader]: environment });
    });
    scope.addHook('preValidation', async (request) => {
      if (request.method !== 'POST') return;
      // As in RFC 6749 3.2: repeated parameters are refused, and empty ones count as absent.
      requireOnce(request.body);
      request.body = withoutEmpty(request.body ?? {});
    });

    scope.post(
      '/authorization',
      { schema: { body: DeviceAuthorizationRequest, response: { 200: DeviceAuthorization }, hide: true } },
      async (request) => {
        await requireAllowance('logins', request);
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
        await requireAllowance('polls', request);
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

    // Without this route, the fallback of the portal's pages would answer GET requests, with a page.
    scope.get(
      '/*',
      { schema: { hide: true }, exposeHeadRoute: false, config: { isFallback: true } },
      async (request) => {
        throw scope.unknownRoute(request);
      },
    );

    scope.delete('/login', { schema: { hide: true } }, async (request, reply) => {
      const found = await requireLogin(request);
      notePartner(request, found.member.partnerId);
      await logins.end(found.session._id, found.member._id);
      await noteDevice('end', found, { request, name: found.session.device?.name ?? '' });
      return reply.status(204).send();
    });
  };
  return routes as FastifyPluginAsync;
}
