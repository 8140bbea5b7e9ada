<?php

declare(strict_types=1);

namespace Svc\Gateway;

/**
 * Verifies webhooks: the signature of interface 5.5 over the raw body, and the time.
 *
 * @phpstan-import-type WebhookEvent from Contract
 */
final class Webhooks
{
    public const DEFAULT_TOLERANCE = 300;

    /**
     * Verifies a delivery, then parses it. The same event may arrive more than once: remember its event_id. A later
     * version may send events of other names.
     *
     * @param string $body as it arrived: file_get_contents('php://input')
     * @param array<string, mixed> $headers $_SERVER, getallheaders(), or the lists of values of PSR-7 and Symfony
     * @param string $secret as it was shown, whsec_ included
     * @param ?int $tolerance seconds that webhook-timestamp may differ from $now; null does not look at the time: a copied
     *   delivery is then accepted at any time
     * @param ?int $now Unix seconds; this machine's clock unless given
     * @return array<string, mixed>
     * @phpstan-return WebhookEvent
     * @throws WebhookError whose code is secret_required, missing_signature, invalid_signature, missing_timestamp,
     *   timestamp_out_of_tolerance or malformed_event: answer 401
     */
    public static function verify(
        string $body,
        array $headers,
        string $secret,
        ?int $tolerance = self::DEFAULT_TOLERANCE,
        ?int $now = null,
        string $baseUrl = '',
    ): array {
        $refusal = static fn (string $code, string $text) =>
            new WebhookError($code, $text, false, "$baseUrl/docs/webhooks#receive");
        // An empty key would let anyone sign.
        if ($secret === '') {
            throw $refusal('secret_required', 'the signing secret, whsec_…, is not set');
        }
        $found = self::normalised($headers);
        if (!isset($found['x-svc-signature'])) {
            throw $refusal('missing_signature', 'there is no X-SVC-Signature header');
        }
        if (!hash_equals('sha256=' . hash_hmac('sha256', $body, $secret), $found['x-svc-signature'])) {
            $text = 'X-SVC-Signature does not fit the body: is this the raw body, and the present secret of this key?';
            throw $refusal('invalid_signature', $text);
        }
        if ($tolerance !== null) {
            $timestamp = $found['webhook-timestamp'] ?? '';
            if (preg_match('/^\d{1,12}$/D', $timestamp) !== 1 || !self::isTimestampSigned($secret, $found, $body)) {
                $text = 'webhook-id, webhook-timestamp and webhook-signature do not fit the body';
                throw $refusal('missing_timestamp', $text);
            }
            $off = abs(($now ?? time()) - (int) $timestamp);
            if ($off > $tolerance) {
                throw $refusal('timestamp_out_of_tolerance', "it was sent $off s from this machine's time");
            }
        }
        $event = json_decode($body, true);
        if (!is_array($event) || !is_string($event['event'] ?? null) || !is_string($event['event_id'] ?? null)) {
            throw $refusal('malformed_event', 'the body is signed, and no event');
        }
        return $event;
    }

    /**
     * Names as they are on the wire, in lower case: `HTTP_X_SVC_SIGNATURE` of $_SERVER is `x-svc-signature`.
     * The values of a repeated header are one list (RFC 9110 5.3). The service sends none.
     *
     * @param array<string, mixed> $headers
     * @return array<string, string>
     */
    private static function normalised(array $headers): array
    {
        $isServer = isset($headers['REQUEST_METHOD']);
        $found = [];
        foreach ($headers as $name => $value) {
            $isPrefixed = str_starts_with((string) $name, 'HTTP_');
            if ($isServer && !$isPrefixed) {
                // It is a variable of the environment.
                continue;
            }
            $wire = strtolower(strtr(substr((string) $name, $isPrefixed ? 5 : 0), '_', '-'));
            $found[$wire] = [...$found[$wire] ?? [], ...array_filter((array) $value, is_string(...))];
        }
        return array_map(static fn (array $values) => implode(', ', $values), array_filter($found));
    }

    /**
     * Standard Webhooks: one of the v1 signatures is over id.timestamp.body.
     *
     * @param array<string, string> $headers
     */
    private static function isTimestampSigned(string $secret, array $headers, string $body): bool
    {
        $key = base64_decode(str_starts_with($secret, 'whsec_') ? substr($secret, 6) : $secret, true);
        $message = ($headers['webhook-id'] ?? '') . '.' . ($headers['webhook-timestamp'] ?? '') . ".$body";
        $fits = false;
        foreach (explode(' ', $headers['webhook-signature'] ?? '') as $part) {
            $expected = 'v1,' . base64_encode(hash_hmac('sha256', $message, (string) $key, true));
            $fits = hash_equals($expected, $part) || $fits;
        }
        return $key !== false && $fits;
    }
}
