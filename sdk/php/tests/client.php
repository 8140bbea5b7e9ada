<?php

declare(strict_types=1);

// Tests against a real service. SVC_TEST names a file with its accounts: see test/sdk/languages.slow.test.ts.

use Svc\Gateway\Answer;
use Svc\Gateway\ApiError;
use Svc\Gateway\AuthorizationError;
use Svc\Gateway\Client;
use Svc\Gateway\Request;
use Svc\Gateway\SvcError;
use Svc\Gateway\Transport;
use Svc\Gateway\Webhooks;

require __DIR__ . '/../autoload.php';
set_error_handler(static function (int $level, string $text, string $file, int $line): bool {
    if ((error_reporting() & $level) === 0) {
        return false;
    }
    throw new ErrorException($text, 0, $level, $file, $line);
});

/** @var array<string, mixed> $fixture */
$fixture = json_decode((string) file_get_contents((string) getenv('SVC_TEST')), true);
const SCOPE = ['age_18_plus', 'country'];
$checks = 0;

function same(mixed $found, mixed $wanted, string $about = ''): void
{
    global $checks;
    $checks += 1;
    if ($found !== $wanted) {
        $text = json_encode([$found, $wanted], JSON_PARTIAL_OUTPUT_ON_ERROR);
        throw new LogicException("$about: found and wanted: $text");
    }
}

/** The error of a call; "none" where it has none. */
function failure(Closure $call): SvcError|string
{
    try {
        $call();
        return 'none';
    } catch (SvcError $error) {
        return $error;
    }
}

/** @return array{string, string} short name of the class, and code */
function told(Closure $call): array
{
    $error = failure($call);
    return is_string($error) ? ['none', ''] : [(new ReflectionClass($error))->getShortName(), $error->errorCode];
}

/** @param array<string, mixed> $changes */
function client(array $changes = []): Client
{
    global $fixture;
    return new Client(...[...$fixture['account'], ...$changes]);
}

/** @return array{Svc\Gateway\Visit, string} a visit of a person, and the redirect with which it ends */
function visit(Client $by, string $person = 'adult'): array
{
    global $fixture;
    $begun = $by->authorizationUrl(SCOPE);
    $query = http_build_query(['url' => $begun->url, 'person' => $person]);
    return [$begun, (string) file_get_contents("{$fixture['walker']}?$query")];
}

function codeOf(string $end): string
{
    parse_str((string) parse_url($end, PHP_URL_QUERY), $query);
    return (string) $query['code'];
}

/** @param list<?Answer> $replies */
function scripted(array $replies): array
{
    $waits = [];
    $send = static function () use (&$replies): ?Answer {
        return array_shift($replies);
    };
    $sleep = static function (int $seconds) use (&$waits): void {
        $waits[] = $seconds;
    };
    $client = client(['transport' => new Transport(send: $send, sleep: $sleep)]);
    $result = null;
    $error = failure(static function () use ($client, &$result): void {
        $result = $client->userinfo('token');
    });
    return [is_string($error) ? $result : $error, $waits];
}

$tests = [
    'goes from the first address to a revoked token' => static function (): void {
        $shop = client();
        [$begun, $end] = visit($shop);
        $back = $shop->callback($end, $begun->state);
        $token = $shop->exchange($back->code, $begun->codeVerifier);
        same([$token['token_type'], $token['scope']], ['Bearer', 'age_18_plus country']);
        same($shop->userinfo($token['access_token'])['claims'], ['age_18_plus' => true, 'country' => 'DE']);
        $shop->revoke($token['access_token']);
        $gone = told(static fn () => $shop->userinfo($token['access_token']));
        same($gone, ['AuthenticationError', 'invalid_token']);
    },
    'tells why a user was not verified' => static function (): void {
        [$begun, $end] = visit(client(), 'rejected');
        $error = failure(static fn () => client()->callback($end, $begun->state));
        same(preg_match('/^ses_/', $error->sessionId ?? ''), 1);
        same([$error->errorCode, $error->reason, $error->retryable], ['verification_failed', 'document_rejected', true]);
    },
    'throws an error of its own class for each refusal' => static function (): void {
        foreach ([
            ['duplicate', 'AccessDeniedError', 'access_denied', []],
            ['low-balance', 'PaymentRequiredError', 'payment_required', []],
            ['minute-cap', 'RateLimitError', 'rate_limited', []],
            ['unavailable', 'ServiceError', 'service_unavailable', [5, 5]],
        ] as [$person, $kind, $code, $wanted]) {
            $waits = [];
            $shop = client(['transport' => new Transport(sleep: static function (int $seconds) use (&$waits): void {
                $waits[] = $seconds;
            })]);
            [$begun, $end] = visit($shop, $person);
            $call = static fn () => $shop->exchange(codeOf($end), $begun->codeVerifier);
            same([told($call), $waits], [[$kind, $code], $wanted], $person);
        }
    },
    'a lost answer is charged once, and told apart' => static function (): void {
        $statuses = [];
        $lossy = static function (Request $request, float $timeout) use (&$statuses): ?Answer {
            $answer = Transport::overStreams($request, $timeout);
            $statuses[] = $answer?->status;
            return count($statuses) === 1 ? null : $answer;
        };
        $shop = client(['transport' => new Transport(send: $lossy, sleep: static function (int $_): void {
        })]);
        [$begun, $end] = visit($shop);
        $error = failure(static fn () => $shop->exchange(codeOf($end), $begun->codeVerifier));
        same([$error->errorCode, $error->answerLost, $statuses], ['invalid_grant', true, [200, 400]]);
        $again = failure(static fn () => $shop->exchange(codeOf($end), $begun->codeVerifier));
        same([$again->chargeId, $again->answerLost], [$error->chargeId, false]);
    },
    'names the explanation that the service names' => static function (): void {
        $named = 'https://verify.example/docs/errors#rate_limited-1';
        $headers = ['x-svc-error' => 'rate_limited', 'link' => "<$named>; rel=\"help\""];
        $send = static fn (Request $request): Answer => new Answer(429, $headers, '{"error":"too many"}');
        $shop = client(['transport' => new Transport(send: $send)]);
        same(failure(static fn () => $shop->session('ses_a'))->docUrl, $named);
    },
    'reads a session' => static function () use ($fixture): void {
        same(client()->session($fixture['session'])['sessionId'], $fixture['session']);
        same(told(static fn () => client()->session('ses_../x')), ['NotFoundError', 'session_not_found']);
        $wrong = client(['apiKey' => 'svc_test_wrong']);
        same(told(static fn () => $wrong->session('ses_x')), ['AuthenticationError', 'invalid_api_key']);
        $none = client(['apiKey' => null]);
        same(told(static fn () => $none->session('ses_x')), ['ConfigurationError', 'missing_setting']);
    },
    'exchanges the code of a shop' => static function () use ($fixture): void {
        $shop = new Client(...$fixture['shop']);
        [, $end] = visit($shop);
        $request = ['code' => codeOf($end), 'redirect_uri' => $fixture['shop']['redirectUri']];
        $request += ['shop_domain' => $fixture['domain'], 'customer_id' => 'ü'];
        $first = $shop->exchangeStorefront($request);
        same([$first['verified'], $first['claims']['age_18_plus']], [true, true]);
        same($shop->exchangeStorefront($request), $first);
        $other = told(static fn () => $shop->exchangeStorefront([...$request, 'customer_id' => '2']));
        same($other, ['NotFoundError', 'code_not_found']);
        $forged = new Client(...[...$fixture['shop'], 'integrationSecret' => 'intsec_wrong']);
        same(told(static fn () => $forged->exchangeStorefront($request)), ['AuthenticationError', 'invalid_signature']);
    },
    'repeats 5xx and lost answers alone, by interface 7.6' => static function (): void {
        $good = new Answer(200, [], '{"sub":"x","claims":{}}');
        $bad = new Answer(500, [], '<html>');
        foreach ([
            [[$bad, $bad, $good], [1, 2]],
            [[null, null, $good], [1, 2]],
            [[new Answer(502, [], ''), $good], [1]],
            [[new Answer(503, ['retry-after' => '5'], ''), $good], [5]],
            [[new Answer(503, [], ''), $good], [1]],
        ] as [$replies, $waits]) {
            same(scripted($replies), [['sub' => 'x', 'claims' => []], $waits]);
        }
        [$error, $waits] = scripted([$bad, $bad, $bad, $good]);
        same([$error->status, $waits], [500, [1, 2]]);
        [$error] = scripted([null, null, null, $good]);
        same($error->errorCode, 'no_answer');
        foreach ([302, 400, 401, 402, 403, 404, 408, 422, 429] as $status) {
            [$error, $waits] = scripted([new Answer($status, ['retry-after' => '7'], '{}'), $good]);
            same([$error->status, $error->retryAfter, $waits], [$status, 7, []]);
        }
        [$error, $waits] = scripted([new Answer(503, ['retry-after' => '3600'], ''), $good]);
        same([$error->retryAfter, $waits], [3600, []]);
        [$error] = scripted([new Answer(200, [], '<html>')]);
        same($error->errorCode, 'malformed_answer');
    },
    'reads whole answers alone, and none for longer than the time limit' => static function () use ($fixture): void {
        $of = static function (string $path) use ($fixture): array {
            $transport = new Transport(0.5, sleep: static fn () => null);
            $begun = microtime(true);
            $told = told(static fn () => (new Client($fixture['raw'] . $path, transport: $transport))->userinfo('t'));
            same(microtime(true) - $begun < 5, true, $path);
            return $told;
        };
        foreach (['hints', 'chunks'] as $path) {
            same($of($path), ['none', ''], $path);
        }
        foreach (['cut', 'last-chunk-missing', 'slow', 'endless'] as $path) {
            same($of($path), ['ConnectionError', 'no_answer'], $path);
        }
    },
    'verifies webhooks that the service sent, and nothing else' => static function () use ($fixture): void {
        $secret = $fixture['deliveries']['secret'];
        foreach ($fixture['deliveries']['received'] as $each) {
            $event = Webhooks::verify((string) base64_decode($each['body']), $each['headers'], $secret);
            same(in_array($event['event'], ['enrollment.created', 'verification.session.completed'], true), true);
        }
        $body = (string) base64_decode($fixture['deliveries']['received'][0]['body']);
        $headers = $fixture['deliveries']['received'][0]['headers'];
        // $_SERVER also has variables of the environment.
        $server = ['REQUEST_METHOD' => 'POST', 'WEBHOOK_ID' => 'x'];
        foreach ($headers as $name => $value) {
            $server['HTTP_' . strtoupper(strtr($name, '-', '_'))] = $value;
        }
        same(client(['webhookSecret' => $secret])->verifyWebhook($body, $server)['event_id'], $headers['x-svc-event-id']);

        $code = static fn (string $body, array $headers, string $by, mixed ...$more): string =>
            told(static fn () => Webhooks::verify($body, $headers, $by, ...$more))[1] ?: 'verified';
        for ($run = 0; $run < 300; $run += 1) {
            $changed = $body;
            $at = random_int(0, strlen($body) - 1);
            $changed[$at] = chr(ord($body[$at]) ^ random_int(1, 255));
            same($code($changed, $headers, $secret), 'invalid_signature', "byte $at");
            $noise = random_bytes(random_int(1, 80));
            same($code($body, [...$headers, 'x-svc-signature' => $noise], $secret), 'invalid_signature', bin2hex($noise));
            same($code($body, $headers, $noise), 'invalid_signature', bin2hex($noise));
        }
    },
    'refuses settings and arguments that cannot be sent, without showing them' => static function () use ($fixture): void {
        $inputs = $fixture['inputs'];
        $sent = [];
        $send = static function (Request $request) use (&$sent, $inputs): Answer {
            $sent[] = $request;
            return new Answer(200, [], str_ends_with($request->url, '/revoke') ? '' : $inputs['wholeBody']);
        };
        $made = static fn (array $changes = []): Client =>
            new Client(...['transport' => new Transport(send: $send), ...$inputs['settings'], ...$changes]);
        $shop = ['code' => 'c', 'redirect_uri' => 'r', 'shop_domain' => 's', 'customer_id' => '1'];
        $calls = [
            'code' => static fn (Client $by, string $value) => $by->exchange($value, 'v'),
            'codeVerifier' => static fn (Client $by, string $value) => $by->exchange('c', $value),
            'userinfo' => static fn (Client $by, string $value) => $by->userinfo($value),
            'revoke' => static fn (Client $by, string $value) => $by->revoke($value),
            'session' => static fn (Client $by, string $value) => $by->session($value),
        ];
        $addresses = [
            'scope' => static fn (Client $by, string $value) => $by->authorizationUrl(['country', $value]),
            'state' => static fn (Client $by, string $value) => $by->authorizationUrl([], $value),
            'uiLocales' => static fn (Client $by, string $value) => $by->authorizationUrl([], null, $value),
            'clientReferenceId' => static fn (Client $by, string $value) => $by->authorizationUrl([], null, null, $value),
        ];
        foreach ([...$calls, ...$addresses] as $name => $call) {
            same(told(static fn () => $call($made(), 'plain')), ['none', ''], $name);
            $before = count($sent);
            foreach ([...$inputs['unsendable'], "_\xff"] as $form) {
                $error = failure(static fn () => $call($made(), strtr($form, ['_' => 'private'])));
                same([$error::class, $error->errorCode], ['Svc\Gateway\ArgumentError', 'malformed_argument'], $name);
                same(str_contains($error->getMessage(), 'private'), false, $name);
            }
            same(count($sent), $before, $name);
        }
        $request = [...$shop, 'customer_id' => "\xff"];
        same(told(static fn () => $made()->exchangeStorefront($request))[0], 'ArgumentError');
        same(told(static fn () => $made()->authorizationUrl(['country', 5]))[0], 'ArgumentError');

        foreach ($inputs['settings'] as $name => $value) {
            foreach ($inputs['surroundings'] as $around) {
                $sent = [];
                $by = $made([$name => $around . $value . $around]);
                $by->session('ses_1');
                $by->exchange('c', 'v');
                $by->exchangeStorefront($shop);
                same($sent[0]->url, 'https://svc.example/api/verify/hvf-session/ses_1');
                same($sent[0]->headers, ['Authorization: Bearer svc_test_secret']);
                parse_str($sent[1]->body, $fields);
                same([$fields['client_id'], $fields['client_secret']], ['client_1', 'svc_cs_secret']);
                same($sent[2]->headers[1], 'X-SVC-Integration-Id: integration_1');
            }
            foreach ([...$inputs['unsendable'], "_\xff"] as $form) {
                $error = failure(static fn () => $made([$name => strtr($form, ['_' => $value])]));
                same([$error::class, $error->errorCode], ['Svc\Gateway\ConfigurationError', 'malformed_setting'], $name);
                same(str_contains($error->getMessage(), $value), false, $name);
            }
        }
        foreach ($inputs['wrongBaseUrls'] as $url) {
            same(told(static fn () => new Client($url)), ['ConfigurationError', 'missing_setting'], $url);
        }
        same(told(static fn () => $made(['apiKey' => " \n"])->session('x')), ['ConfigurationError', 'missing_setting']);
        same(told(static fn () => $made(['webhookSecret' => ' '])->verifyWebhook('', [])), ['WebhookError', 'secret_required']);

        $answered = static fn (?string $body): Transport => new Transport(
            send: static fn () => $body === null ? throw new RuntimeException('lost') : new Answer(200, [], $body),
            sleep: static fn () => null,
        );
        $calls['shop'] = static fn (Client $by) => $by->exchangeStorefront($shop);
        foreach ($calls as $name => $call) {
            $with = static fn (?string $body) => told(static fn () => $call($made(['transport' => $answered($body)]), 'x'));
            same($with(null), ['ConnectionError', 'no_answer'], $name);
            $bodies = $name === 'revoke' ? [] : $inputs['malformedBodies'];
            foreach ([...$bodies, ...$inputs['incompleteBodies'][$name] ?? []] as $body) {
                same($with($body), ['ConnectionError', 'malformed_answer'], "$name: " . substr($body, 0, 20));
            }
        }
    },
    'writes & between parameters whatever php.ini says' => static function (): void {
        $before = ini_set('arg_separator.output', '&amp;');
        $send = static function (Request $request) use (&$body): Answer {
            $body = $request->body;
            return new Answer(200, [], '{"access_token":"t"}');
        };
        $by = client(['transport' => new Transport(send: $send)]);
        $by->exchange('c', 'v');
        $url = $by->authorizationUrl(SCOPE)->url;
        ini_set('arg_separator.output', (string) $before);
        same([str_contains($url, '&amp;'), str_contains((string) $body, '&amp;')], [false, false]);
        same(str_contains((string) $body, '&code=c&'), true);
    },
    'answers the cases that every client library answers alike' => static function () use ($fixture): void {
        $shop = new Client('https://svc.example');
        $calls = [
            'callbacks' => static function (array $given) use ($shop): array {
                $back = $shop->callback($given['query'], $given['state']);
                return [$back->code, $back->sessionId];
            },
            'deliveries' => static function (array $given): array {
                $headers = [];
                foreach ($given['headers'] as [$name, $value]) {
                    $headers[$name][] = $value;
                }
                ['body' => $body, 'secret' => $secret, 'tolerance' => $tolerance, 'now' => $now] = $given;
                $event = Webhooks::verify((string) base64_decode($body), $headers, $secret, $tolerance, $now);
                return [$event['event_id']];
            },
            'errors' => static function (array $given): array {
                $headers = array_change_key_case($given['headers']);
                $answer = new Answer($given['status'], $headers, $given['body']);
                $transport = new Transport(send: static fn () => $answer, sleep: static fn () => null);
                client(['transport' => $transport])->userinfo('token');
                return ['success'];
            },
        ];
        foreach ($calls as $kind => $call) {
            foreach ($fixture['cases'][$kind] as $case) {
                $result = null;
                $error = failure(static function () use ($call, $case, &$result): void {
                    $result = $call($case['given']);
                });
                same(match (true) {
                    $error instanceof AuthorizationError
                        => [$error->errorCode, $error->reason, $error->retryable, $error->sessionId],
                    $error instanceof ApiError => [$error->errorCode, $error->retryAfter, $error->retryable],
                    $error instanceof SvcError => [$error->errorCode],
                    default => $result,
                }, $case['answer'], (string) json_encode($case));
            }
        }
    },
];

foreach ($tests as $title => $test) {
    $test();
    echo "ok $title\n";
}
echo "$checks checks\n";
