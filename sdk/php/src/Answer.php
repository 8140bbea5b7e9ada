<?php

declare(strict_types=1);

namespace Svc\Gateway;

/** An answer with its whole body. */
final class Answer
{
    /** @param array<string, string> $headers names in lower case */
    public function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly string $body,
    ) {
    }

    /**
     * Code and text of an error. An OAuth body names its code; for the general format, X-SVC-Error does.
     *
     * @return array{string, string}
     */
    public function told(): array
    {
        $parsed = json_decode($this->body, true);
        $error = is_array($parsed) ? $parsed['error'] ?? null : null;
        $description = is_array($parsed) ? $parsed['error_description'] ?? null : null;
        $code = $this->headers['x-svc-error'] ?? '';
        if (is_string($error) && is_string($description)) {
            return [$error, $description];
        }
        if (is_string($error) && $code !== '') {
            return [$code, $error];
        }
        return ['unknown_answer', "the answer has status {$this->status} and is not one of the service"];
    }

    /** The address of the explanation that Link names. A code may have an entry for each format of errors. */
    public function docUrl(): ?string
    {
        $names = preg_match('/<(https?:[^<>]*)>; *rel="help"/', $this->headers['link'] ?? '', $found) === 1;
        return $names ? $found[1] : null;
    }

    /** Seconds of Retry-After: a number, or a date (RFC 9110 10.2.3). */
    public function retryAfter(): ?int
    {
        $value = trim($this->headers['retry-after'] ?? '');
        if (preg_match('/^\d+$/D', $value) === 1) {
            return (int) $value;
        }
        $at = preg_match('/^[A-Z][a-z]{2}, .* GMT$/D', $value) === 1 ? strtotime($value) : false;
        return $at === false ? null : max(0, $at - time());
    }
}
