<?php

declare(strict_types=1);

namespace Svc\Gateway;

/** One request, as it goes over the wire. */
final class Request
{
    /** @param list<string> $headers such as "Content-Type: application/json" */
    public function __construct(
        public readonly string $method,
        public readonly string $url,
        public readonly array $headers = [],
        public readonly string $body = '',
    ) {
    }
}

/** Sends calls, and repeats them by interface 7.6. */
final class Transport
{
    /** Attempts in all, and seconds before the second one; they double. */
    private const MOST_ATTEMPTS = 3;
    private const FIRST_DELAY = 1;

    /** The most bytes of an answer. Those of the service are far smaller. */
    private const LARGEST_ANSWER = 1_048_576;

    /** @var \Closure(Request, float): ?Answer */
    private readonly \Closure $send;
    /** @var \Closure(int): void */
    private readonly \Closure $sleep;

    /**
     * @param float $timeout seconds that one attempt may wait for each part of the headers, and for the whole body
     * @param int $maxRetryAfter a longer Retry-After is not waited for, and the error says it instead; seconds
     * @param null|\Closure(Request, float): ?Answer $send another HTTP client; null is no answer
     * @param null|\Closure(int): void $sleep waits for some seconds
     */
    public function __construct(
        private readonly float $timeout = 10.0,
        private readonly int $maxRetryAfter = 30,
        ?\Closure $send = null,
        ?\Closure $sleep = null,
    ) {
        $this->send = $send ?? self::overStreams(...);
        $this->sleep = $sleep ?? static function (int $seconds): void {
            sleep($seconds);
        };
    }

    /** Sends a request by PHP's own streams. Credentials do not follow a redirect to another place. */
    public static function overStreams(Request $request, float $timeout): ?Answer
    {
        $context = stream_context_create(['http' => [
            'method' => $request->method,
            'header' => [...$request->headers, 'Connection: close'],
            'content' => $request->body,
            'ignore_errors' => true,
            'follow_location' => 0,
            'timeout' => $timeout,
            'protocol_version' => 1.1,
            // PHP takes a chunked body that ends too early for a whole one.
            'auto_decode' => false,
        ]]);
        $stream = @fopen($request->url, 'r', false, $context);
        if ($stream === false) {
            return null;
        }
        $body = self::bodyOf($stream, microtime(true) + $timeout);
        // PHP 8.5 deprecates the variable with the headers.
        $lines = stream_get_meta_data($stream)['wrapper_data'];
        fclose($stream);
        // A 1xx is followed by the answer, which PHP does not find after two of them.
        if ($body === null || preg_match('#^HTTP/\S+ ([2-9]\d\d)#', $lines[0] ?? '', $found) !== 1) {
            return null;
        }
        $headers = [];
        foreach (array_slice($lines, 1) as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $headers[strtolower(trim($name))] = trim($value);
        }
        // A body that is shorter than announced is none.
        $length = $headers['content-length'] ?? null;
        if ($length !== null && strlen($body) < (int) $length) {
            return null;
        }
        if (isset($headers['transfer-encoding'])) {
            $body = self::joined($body);
        }
        return $body === null ? null : new Answer((int) $found[1], $headers, $body);
    }

    /**
     * The rest of a stream; null where it is too large, or not whole at the time $end.
     *
     * @param resource $stream
     */
    private static function bodyOf($stream, float $end): ?string
    {
        $body = '';
        while (!feof($stream)) {
            $part = fread($stream, 65_536);
            $isTooLate = stream_get_meta_data($stream)['timed_out'] || microtime(true) > $end;
            if ($part === false || $isTooLate || strlen($body) > self::LARGEST_ANSWER) {
                return null;
            }
            $body .= $part;
        }
        return $body;
    }

    /** The parts of a chunked body (RFC 9112 7.1) as one; null where the last one is missing. */
    private static function joined(string $chunked): ?string
    {
        [$body, $at] = ['', 0];
        while (preg_match('/\G([0-9a-f]{1,7})[^\r\n]*\r\n/i', $chunked, $found, 0, $at) === 1) {
            [$begin, $size] = [$at + strlen($found[0]), (int) hexdec($found[1])];
            if ($size === 0) {
                return $body;
            }
            $at = $begin + $size + 2;
            if (strlen($chunked) < $at) {
                return null;
            }
            $body .= substr($chunked, $begin, $size);
        }
        return null;
    }

    /**
     * The last answer, and whether an attempt before it may have been carried out without this caller knowing.
     * A 503 is repeated after its Retry-After; another 5xx, and no answer, after 1 s, then 2 s. A 4xx never is.
     *
     * @param \Closure(): Request $request made for each attempt, as a signed call gets a new timestamp
     * @return array{Answer, bool}
     * @throws ConnectionError where the last attempt had no answer
     */
    public function call(\Closure $request, string $baseUrl): array
    {
        for ($attempts = 1; ; $attempts += 1) {
            // Not in the try, because a missing setting is no lost answer.
            [$answer, $cause, $prepared] = [null, null, $request()];
            try {
                $answer = ($this->send)($prepared, $this->timeout);
            } catch (\Exception $cause) {
                // Another HTTP client may throw where there is no answer.
            }
            $delay = $this->delay($answer, $attempts);
            if ($delay === null && $answer !== null) {
                return [$answer, $attempts > 1];
            }
            if ($delay === null) {
                $text = "$baseUrl did not answer in $attempts attempts";
                throw new ConnectionError('no_answer', $text, true, "$baseUrl/docs/limits-and-billing#retry", $cause);
            }
            ($this->sleep)($delay);
        }
    }

    /** Seconds to wait before the next attempt; null where there is none. */
    private function delay(?Answer $answer, int $attempts): ?int
    {
        if ($attempts >= self::MOST_ATTEMPTS || ($answer !== null && $answer->status < 500)) {
            return null;
        }
        $told = $answer?->status === 503 ? $answer->retryAfter() : null;
        if ($told !== null) {
            return $told <= $this->maxRetryAfter ? $told : null;
        }
        return self::FIRST_DELAY * 2 ** ($attempts - 1);
    }
}
