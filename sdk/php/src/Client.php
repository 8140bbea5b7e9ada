<?php

declare(strict_types=1);

namespace Svc\Gateway;

/** Where the user is sent, and what is kept in the user's session until the redirect. */
final class Visit
{
    public function __construct(
        public readonly string $url,
        public readonly string $state,
        public readonly string $codeVerifier,
    ) {
    }
}

/** What the user's redirect carries after a success. `sessionId` is null where the redirect does not name it. */
final class Callback
{
    public function __construct(public readonly string $code, public readonly ?string $sessionId)
    {
    }
}

/**
 * The functions of the interface for one account. Calls are repeated by interface 7.6: three attempts in all after a 5xx
 * or no answer, none after a 4xx. Every error is an SvcError. Settings are trimmed; ArgumentError refuses an argument that
 * cannot be sent.
 *
 * @phpstan-import-type TokenResponse from Contract
 * @phpstan-import-type OpenidTokenResponse from Contract
 * @phpstan-import-type UserinfoResponse from Contract
 * @phpstan-import-type SessionResponse from Contract
 * @phpstan-import-type StorefrontRequest from Contract
 * @phpstan-import-type StorefrontResponse from Contract
 * @phpstan-import-type WebhookEvent from Contract
 */
final class Client
{
    /** White space of a file or a variable around a setting. */
    private const AROUND = "\t\n\v\f\r ";

    private readonly string $baseUrl;
    private readonly ?string $clientId;
    private readonly ?string $clientSecret;
    private readonly ?string $redirectUri;
    private readonly ?string $apiKey;
    private readonly ?string $webhookSecret;
    private readonly ?string $integrationId;
    private readonly ?string $integrationSecret;

    /**
     * What support has sent you. Each function says which settings it needs; the others may be null.
     *
     * @throws ConfigurationError where $baseUrl is missing, or a setting is malformed
     */
    public function __construct(
        string $baseUrl,
        ?string $clientId = null,
        #[\SensitiveParameter] ?string $clientSecret = null,
        ?string $redirectUri = null,
        #[\SensitiveParameter] ?string $apiKey = null,
        #[\SensitiveParameter] ?string $webhookSecret = null,
        ?string $integrationId = null,
        #[\SensitiveParameter] ?string $integrationSecret = null,
        private readonly Transport $transport = new Transport(),
    ) {
        $address = self::setting('baseUrl', $baseUrl) ?? '';
        if (preg_match('~^https?://[^/?#@]+(/[^?#]*)?$~D', $address) !== 1) {
            throw new ConfigurationError('missing_setting', 'baseUrl is not set, or is no http or https address');
        }
        $this->baseUrl = rtrim($address, '/');
        $this->clientId = self::setting('clientId', $clientId);
        $this->clientSecret = self::setting('clientSecret', $clientSecret);
        $this->redirectUri = self::setting('redirectUri', $redirectUri);
        $this->apiKey = self::setting('apiKey', $apiKey);
        $this->webhookSecret = self::setting('webhookSecret', $webhookSecret);
        $this->integrationId = self::setting('integrationId', $integrationId);
        $this->integrationSecret = self::setting('integrationSecret', $integrationSecret);
    }

    /** The client of the file that support sends, from the environment. */
    public static function fromEnv(Transport $transport = new Transport()): self
    {
        $names = ['BASE_URL', 'CLIENT_ID', 'CLIENT_SECRET', 'REDIRECT_URI', 'API_KEY', 'WEBHOOK_SECRET'];
        $names = [...$names, 'INTEGRATION_ID', 'INTEGRATION_SECRET'];
        $values = array_map(static fn (string $name) => getenv("SVC_$name") ?: null, $names);
        $values[0] ??= '';
        return new self(...$values, transport: $transport);
    }

    /**
     * Where to send the user's browser. Keep `state` and `codeVerifier` in the user's session.
     *
     * @param list<string> $scope claims that the user is asked to share
     * @param ?string $state at least 16 characters; random unless given
     * @param ?string $clientReferenceId yours, by which support finds the session: 1 to 200 characters of A-Z, a-z, 0-9,
     *   _ . : and -, without personal data
     */
    public function authorizationUrl(
        array $scope,
        ?string $state = null,
        ?string $uiLocales = null,
        ?string $clientReferenceId = null,
    ): Visit {
        $state ??= self::base64url(random_bytes(24));
        $verifier = self::base64url(random_bytes(32));
        $query = array_filter([
            'client_id' => $this->need('clientId'),
            'redirect_uri' => $this->need('redirectUri'),
            'scope' => $this->argument('scope', array_filter($scope, is_string(...)) === $scope ? implode(' ', $scope) : null),
            'state' => $this->argument('state', $state),
            'code_challenge' => self::base64url(hash('sha256', $verifier, true)),
            'code_challenge_method' => 'S256',
            'response_type' => 'code',
            'ui_locales' => $this->argument('uiLocales', $uiLocales ?? '') ?: null,
            'client_reference_id' => $this->argument('clientReferenceId', $clientReferenceId ?? '') ?: null,
        ], static fn (?string $value) => $value !== null);
        return new Visit("$this->baseUrl/verify/start?" . self::encoded($query), $state, $verifier);
    }

    /**
     * Reads the redirect with which a user comes back.
     *
     * @param string $request its address, path and query, or query: $_SERVER['REQUEST_URI']
     * @param ?string $state of this browser's visit, as it was kept in the user's session
     * @throws CallbackError missing_state, state_mismatch, issuer_mismatch, repeated_parameter or missing_code, where it
     *   is not the answer to this browser's visit
     * @throws AuthorizationError where the user was not verified
     */
    public function callback(string $request, #[\SensitiveParameter] ?string $state): Callback
    {
        $query = self::parameters($request);
        $once = fn (string $name): ?string => count($query[$name] ?? []) > 1
            ? throw $this->refuseCallback('repeated_parameter', "$name is given twice")
            : (($query[$name][0] ?? '') === '' ? null : $query[$name][0]);
        if ($state === null || $state === '') {
            throw $this->refuseCallback('missing_state', 'this browser has begun no verification, or its session is over');
        }
        if (!hash_equals($state, $once('state') ?? '')) {
            throw $this->refuseCallback('state_mismatch', 'state is not the one of this browser');
        }
        if ($once('iss') !== $this->baseUrl) {
            throw $this->refuseCallback('issuer_mismatch', "iss is not $this->baseUrl");
        }
        $error = $once('error');
        if ($error !== null) {
            $description = $once('error_description') ?? '';
            $reason = preg_match('/^([a-z_]+): /', $description, $found) === 1 ? $found[1] : null;
            $retryable = Contract::REASON_IS_RETRYABLE[$reason ?? ''] ?? false;
            $docUrl = "$this->baseUrl/docs/errors#redirects-back-to-the-partner";
            $refused = new AuthorizationError($error, $description, $retryable, $docUrl);
            $refused->reason = $reason;
            $refused->sessionId = $once('session_id');
            throw $refused;
        }
        $code = $once('code') ?? throw $this->refuseCallback('missing_code', 'there is neither a code nor an error');
        return new Callback($code, $once('session_id'));
    }

    /**
     * Exchanges a code for an access token: one billable event. A code is never charged twice, also by repeated attempts.
     * After a start with the scope openid, the result also has id_token, which it does not verify.
     *
     * @return array<string, mixed>
     * @phpstan-return TokenResponse|OpenidTokenResponse
     * @throws CodeUsedError where the code was charged before
     */
    public function exchange(string $code, #[\SensitiveParameter] string $codeVerifier): array
    {
        [$answer, $uncertain] = $this->post('/api/oauth/token', [
            'grant_type' => 'authorization_code',
            'code' => $this->argument('code', $code),
            ...$this->credentials(),
            'redirect_uri' => $this->need('redirectUri'),
            'code_verifier' => $this->argument('codeVerifier', $codeVerifier),
        ]);
        [$told, $text] = $answer->told();
        if ($answer->status === 400 && $told === 'invalid_grant' && preg_match('/\btxn_\w+/', $text, $charge) === 1) {
            $used = new CodeUsedError($answer, $this->baseUrl);
            [$used->chargeId, $used->answerLost] = [$charge[0], $uncertain];
            throw $used;
        }
        return $this->parsed($answer, ['access_token' => 'string']);
    }

    /**
     * The claims of an access token, as they were when it was issued.
     *
     * @return array<string, mixed>
     * @phpstan-return UserinfoResponse
     */
    public function userinfo(#[\SensitiveParameter] string $accessToken): array
    {
        $token = $this->argument('accessToken', $accessToken);
        return $this->get('/api/oauth/userinfo', $token, ['sub' => 'string', 'claims' => 'array']);
    }

    /** Ends an access token. One that is unknown, expired or revoked is no error. */
    public function revoke(#[\SensitiveParameter] string $accessToken): void
    {
        $token = $this->argument('accessToken', $accessToken);
        [$answer] = $this->post('/api/oauth/revoke', ['token' => $token, ...$this->credentials()]);
        if ($answer->status !== 200) {
            throw ApiError::of($answer, $this->baseUrl);
        }
        if ($answer->body !== '') {
            throw $this->malformedAnswer();
        }
    }

    /**
     * The status of a session, with the API key.
     *
     * @return array<string, mixed>
     * @phpstan-return SessionResponse['session']
     * @throws NotFoundError from 30 minutes after its start
     */
    public function session(string $sessionId): array
    {
        $path = '/api/verify/hvf-session/' . rawurlencode($this->argument('sessionId', $sessionId));
        return $this->get($path, $this->need('apiKey'), ['session' => 'array'])['session'];
    }

    /**
     * Exchanges a code by a signed call of a storefront: one billable event. Every attempt sends the same bytes, and a
     * code is never charged twice. `verified` is always true: read the claim that the sale depends on.
     *
     * @param array<string, string> $request
     * @phpstan-param StorefrontRequest $request
     * @return array<string, mixed>
     * @phpstan-return StorefrontResponse
     */
    public function exchangeStorefront(array $request): array
    {
        try {
            $body = json_encode((object) $request, JSON_THROW_ON_ERROR);
        } catch (\JsonException $cause) {
            throw $this->refuseArgument('request', 'is no JSON', $cause);
        }
        // Interface 5.4: over the bytes that are sent, at the time of the attempt.
        $signed = function () use ($body): Request {
            [$id, $timestamp] = [$this->need('integrationId'), (string) time()];
            $signature = hash_hmac('sha256', "$id.$timestamp.$body", $this->need('integrationSecret'));
            return new Request('POST', "$this->baseUrl/api/integrations/storefront/verify/exchange", [
                'Content-Type: application/json',
                "X-SVC-Integration-Id: $id",
                "X-SVC-Timestamp: $timestamp",
                "X-SVC-Signature: sha256=$signature",
            ], $body);
        };
        $answer = $this->transport->call($signed, $this->baseUrl)[0];
        return $this->parsed($answer, ['verified' => 'boolean', 'claims' => 'array']);
    }

    /**
     * `Webhooks::verify` with the secret of the settings.
     *
     * @param string $body file_get_contents('php://input')
     * @param array<string, mixed> $headers $_SERVER, getallheaders(), or the lists of values of PSR-7 and Symfony
     * @return array<string, mixed>
     * @phpstan-return WebhookEvent
     */
    public function verifyWebhook(string $body, array $headers, ?int $tolerance = Webhooks::DEFAULT_TOLERANCE): array
    {
        return Webhooks::verify($body, $headers, $this->webhookSecret ?? '', $tolerance, baseUrl: $this->baseUrl);
    }

    /**
     * Every value of each parameter of a query. PHP's own parser keeps the last one alone.
     *
     * @return array<string, list<string>>
     */
    private static function parameters(string $request): array
    {
        $query = str_contains($request, '?') ? substr($request, strpos($request, '?') + 1) : $request;
        $found = [];
        foreach (explode('&', explode('#', $query, 2)[0]) as $pair) {
            [$name, $value] = explode('=', $pair, 2) + [1 => ''];
            // Bytes that are not UTF-8 would break a log in JSON.
            $found[urldecode($name)][] = json_decode((string) json_encode(urldecode($value), JSON_INVALID_UTF8_SUBSTITUTE));
        }
        return $found;
    }

    /**
     * A setting without white space around it; null where it is blank. The value may be secret: no error shows it.
     *
     * @throws ConfigurationError where no header or address can hold it
     */
    private static function setting(string $name, #[\SensitiveParameter] ?string $value): ?string
    {
        $text = trim($value ?? '', self::AROUND);
        if (preg_match('/^[\x21-\x7e]*$/D', $text) !== 1) {
            throw new ConfigurationError('malformed_setting', "$name has a character other than visible ASCII");
        }
        return $text === '' ? null : $text;
    }

    /**
     * An argument that is printable ASCII, as RFC 6749 has them all. No error shows its value.
     *
     * @throws ArgumentError
     */
    private function argument(string $name, #[\SensitiveParameter] ?string $value): string
    {
        if ($value === null || preg_match('/^[\x20-\x7e]*$/D', $value) !== 1) {
            throw $this->refuseArgument($name, 'is no text of printable ASCII');
        }
        return $value;
    }

    private function refuseArgument(string $name, string $fault, ?\Throwable $cause = null): ArgumentError
    {
        return new ArgumentError('malformed_argument', "$name $fault", false, "$this->baseUrl/docs/sdk-php", $cause);
    }

    /**
     * A query or form. The separator is given, because arg_separator.output of php.ini may be another one.
     *
     * @param array<string, string> $fields
     */
    private static function encoded(array $fields): string
    {
        return http_build_query($fields, '', '&');
    }

    private static function base64url(string $bytes): string
    {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    }

    private function refuseCallback(string $code, string $text): CallbackError
    {
        return new CallbackError($code, $text, false, "$this->baseUrl/docs/flow#the-user-comes-back");
    }

    private function need(string $name): string
    {
        $value = $this->$name;
        if (!is_string($value) || $value === '') {
            $docUrl = "$this->baseUrl/docs/quickstart#what-is-in-the-file";
            throw new ConfigurationError('missing_setting', "$name is not set", false, $docUrl);
        }
        return $value;
    }

    /** @return array{client_id: string, client_secret: string} */
    private function credentials(): array
    {
        return ['client_id' => $this->need('clientId'), 'client_secret' => $this->need('clientSecret')];
    }

    /**
     * @param array<string, string> $fields
     * @return array{Answer, bool}
     */
    private function post(string $path, array $fields): array
    {
        $headers = ['Content-Type: application/x-www-form-urlencoded'];
        $request = new Request('POST', $this->baseUrl . $path, $headers, self::encoded($fields));
        return $this->transport->call(static fn () => $request, $this->baseUrl);
    }

    /**
     * @param array<string, string> $members those that a caller relies on, each with the `gettype` of its value
     * @return array<string, mixed>
     */
    private function get(string $path, #[\SensitiveParameter] string $token, array $members): array
    {
        $request = new Request('GET', $this->baseUrl . $path, ["Authorization: Bearer $token"]);
        return $this->parsed($this->transport->call(static fn () => $request, $this->baseUrl)[0], $members);
    }

    /**
     * @param array<string, string> $members
     * @return array<string, mixed>
     */
    private function parsed(Answer $answer, array $members): array
    {
        if ($answer->status !== 200) {
            throw ApiError::of($answer, $this->baseUrl);
        }
        $parsed = json_decode($answer->body, true);
        // PHP reads a list as an array too.
        if (!is_array($parsed) || !str_starts_with(ltrim($answer->body), '{')) {
            throw $this->malformedAnswer();
        }
        // A proxy may answer 200 for a service that it cannot reach.
        foreach ($members as $name => $type) {
            if (gettype($parsed[$name] ?? null) !== $type) {
                throw $this->malformedAnswer();
            }
        }
        return $parsed;
    }

    private function malformedAnswer(): ConnectionError
    {
        $text = 'the body of the 200 is not the one of the interface';
        return new ConnectionError('malformed_answer', $text, false, "$this->baseUrl/docs/errors");
    }
}
