"""Tests against a real service. SVC_TEST names a file with its accounts: see test/sdk/languages.slow.test.ts."""

import base64
import json
import os
import random
import time
import unittest
import urllib.parse
import urllib.request
from email.message import Message
from typing import Any, Callable, Dict, List, Optional, Union

import svc_gateway as svc
from svc_gateway.errors import Answer
from svc_gateway.transport import http_send

with open(os.environ["SVC_TEST"], encoding="utf-8") as _file:
    FIXTURE: Dict[str, Any] = json.load(_file)
SCOPE = ["age_18_plus", "country"]


def client(**changes: Any) -> svc.Client:
    return svc.Client(**{**FIXTURE["account"], **changes})


def visit(by: svc.Client, person: str = "adult") -> "tuple[svc.Visit, str]":
    """A visit of a person, and the redirect with which it ends."""
    begun = by.authorization_url(SCOPE)
    query = urllib.parse.urlencode({"url": begun.url, "person": person})
    with urllib.request.urlopen(f"{FIXTURE['walker']}?{query}") as answer:
        return begun, answer.read().decode()


def code_of(end: str) -> str:
    return urllib.parse.parse_qs(end.partition("?")[2])["code"][0]


class Flow(unittest.TestCase):
    def fails(self, kind: type, call: Callable[[], object], **facts: object) -> Any:
        with self.assertRaises(kind) as caught:
            call()
        for name, value in facts.items():
            self.assertEqual(getattr(caught.exception, name), value, caught.exception)
        return caught.exception

    def test_goes_from_the_first_address_to_a_revoked_token(self) -> None:
        shop = client()
        begun, end = visit(shop)
        back = shop.callback(end, begun.state)
        token = shop.exchange(back.code, begun.code_verifier)
        self.assertEqual((token["token_type"], token["scope"]), ("Bearer", "age_18_plus country"))
        info = shop.userinfo(token["access_token"])
        self.assertEqual(info["claims"], {"age_18_plus": True, "country": "DE"})
        shop.revoke(token["access_token"])
        self.fails(svc.AuthenticationError, lambda: shop.userinfo(token["access_token"]), code="invalid_token")

    def test_tells_why_a_user_was_not_verified(self) -> None:
        begun, end = visit(client(), "rejected")
        facts = {"code": "verification_failed", "reason": "document_rejected", "retryable": True}
        facts["session_id"] = urllib.parse.parse_qs(end.partition("?")[2])["session_id"][0]
        self.fails(svc.AuthorizationError, lambda: client().callback(end, begun.state), **facts)

    def test_raises_an_error_of_its_own_class_for_each_refusal(self) -> None:
        for person, kind, code, retryable in [
            ("duplicate", svc.AccessDeniedError, "access_denied", False),
            ("low-balance", svc.PaymentRequiredError, "payment_required", False),
            ("minute-cap", svc.RateLimitError, "rate_limited", True),
            ("unavailable", svc.ServiceError, "service_unavailable", True),
        ]:
            waits: List[float] = []
            shop = client(sleep=waits.append)
            begun, end = visit(shop, person)
            call = lambda: shop.exchange(code_of(end), begun.code_verifier)  # noqa: B023, E731
            error = self.fails(kind, call, code=code, retryable=retryable)
            self.assertTrue(error.request_id.startswith("req_"))
            self.assertEqual(error.doc_url, f"{shop.base_url}/docs/errors#{code}")
            self.assertEqual(waits, [5.0, 5.0] if person == "unavailable" else [])

    def test_a_lost_answer_is_charged_once_and_told_apart(self) -> None:
        calls: List[int] = []

        def lossy(request: urllib.request.Request, timeout: float) -> Answer:
            answer = http_send(request, timeout)
            calls.append(answer.status)
            if len(calls) == 1:
                raise ConnectionResetError("the answer is lost")
            return answer

        shop = client(send=lossy, sleep=lambda _: None)
        begun, end = visit(shop)
        call = lambda: shop.exchange(code_of(end), begun.code_verifier)  # noqa: E731
        error = self.fails(svc.CodeUsedError, call, code="invalid_grant", answer_lost=True)
        self.assertEqual(calls, [200, 400])
        again = self.fails(svc.CodeUsedError, call, answer_lost=False)
        self.assertEqual(again.charge_id, error.charge_id)

    def test_names_the_explanation_that_the_service_names(self) -> None:
        named = "https://verify.example/docs/errors#rate_limited-1"
        headers = {"X-SVC-Error": "rate_limited", "Link": f'<{named}>; rel="help"'}
        shop = client(send=lambda _request, _timeout: Answer(429, headers, b'{"error":"too many"}'))
        self.fails(svc.RateLimitError, lambda: shop.session("ses_a"), code="rate_limited", doc_url=named)

    def test_reads_a_session(self) -> None:
        shop = client()
        session = shop.session(FIXTURE["session"])
        self.assertEqual((session["sessionId"], session["isTestMode"]), (FIXTURE["session"], True))
        self.fails(svc.NotFoundError, lambda: shop.session("ses_../x"), code="session_not_found")
        wrong = client(api_key="svc_test_wrong")
        self.fails(svc.AuthenticationError, lambda: wrong.session(FIXTURE["session"]), code="invalid_api_key")
        self.fails(svc.ConfigurationError, lambda: client(api_key=None).session("x"), code="missing_setting")

    def test_exchanges_the_code_of_a_shop(self) -> None:
        shop = svc.Client(**FIXTURE["shop"])
        _, end = visit(shop)
        request: Any = {
            "code": code_of(end),
            "redirect_uri": FIXTURE["shop"]["redirect_uri"],
            "shop_domain": FIXTURE["domain"],
            "customer_id": "ü",
        }
        first = shop.exchange_storefront(request)
        self.assertEqual((first["verified"], first["claims"]["age_18_plus"]), (True, True))
        self.assertEqual(shop.exchange_storefront(request), first)
        other = {**request, "customer_id": "2"}
        self.fails(svc.NotFoundError, lambda: shop.exchange_storefront(other), code="code_not_found")  # type: ignore
        forged = svc.Client(**{**FIXTURE["shop"], "integration_secret": "intsec_wrong"})
        self.fails(svc.AuthenticationError, lambda: forged.exchange_storefront(request), code="invalid_signature")

    def test_names_no_secret(self) -> None:
        shop = client(client_secret="svc_secret_of_a_test")
        error = self.fails(svc.AuthenticationError, lambda: shop.exchange("svc_code_x", "v" * 43), code="invalid_client")
        self.assertNotIn("of_a_test", repr(shop) + repr(error) + str(vars(error)))


class Retries(unittest.TestCase):
    """By interface 7.6."""

    def run_script(self, replies: List[Union[Answer, Exception]]) -> "tuple[object, List[float]]":
        left, waits = list(replies), []  # type: ignore

        def send(_request: urllib.request.Request, _timeout: float) -> Answer:
            reply = left.pop(0)
            if isinstance(reply, Exception):
                raise reply
            return reply

        try:
            return client(send=send, sleep=waits.append).userinfo("token"), waits
        except svc.SvcError as error:
            return error, waits

    def test_repeats_5xx_and_lost_answers_alone(self) -> None:
        good = Answer(200, {}, b'{"sub":"x","claims":{}}')
        bad = Answer(500, {}, b"<html>")
        busy = Answer(503, {"Retry-After": "5"}, b"")
        lost = ConnectionResetError()
        for replies, waits in [
            ([bad, bad, good], [1.0, 2.0]),
            ([lost, TimeoutError(), good], [1.0, 2.0]),
            ([Answer(502, {}, b""), good], [1.0]),
            ([busy, good], [5.0]),
            ([Answer(503, {}, b""), good], [1.0]),
        ]:
            self.assertEqual(self.run_script(replies), ({"sub": "x", "claims": {}}, waits))  # type: ignore
        error, waits = self.run_script([bad, bad, bad, good])
        self.assertIsInstance(error, svc.ServiceError)
        self.assertEqual(waits, [1.0, 2.0])
        error, _ = self.run_script([lost, lost, lost, good])
        self.assertIsInstance(error, svc.ConnectionFailed)
        for status in [302, 400, 401, 402, 403, 404, 408, 422, 429]:
            error, waits = self.run_script([Answer(status, {"Retry-After": "7"}, b"{}"), good])
            self.assertEqual((getattr(error, "status"), getattr(error, "retry_after"), waits), (status, 7.0, []))
        error, waits = self.run_script([Answer(503, {"Retry-After": "3600"}, b""), good])
        self.assertEqual((getattr(error, "retry_after"), waits), (3600.0, []))
        error, _ = self.run_script([Answer(200, {}, b"<html>")])
        self.assertEqual(getattr(error, "code"), "malformed_answer")


    def test_reads_whole_answers_alone_and_none_for_longer_than_the_time_limit(self) -> None:
        for path in ["hints", "chunks", "cut", "last-chunk-missing", "slow", "endless"]:
            begun = time.monotonic()
            by = svc.Client(FIXTURE["raw"] + path, timeout=0.5, sleep=lambda _: None)
            if path in ["hints", "chunks"]:
                self.assertEqual(by.userinfo("t")["sub"], "x")
            else:
                with self.assertRaises(svc.ConnectionFailed) as caught:
                    by.userinfo("t")
                self.assertEqual(caught.exception.code, "no_answer", path)
            self.assertLess(time.monotonic() - begun, 5, path)


class Webhooks(unittest.TestCase):
    def setUp(self) -> None:
        self.secret: str = FIXTURE["deliveries"]["secret"]
        first = FIXTURE["deliveries"]["received"][0]
        self.body = base64.b64decode(first["body"])
        self.headers: Dict[str, str] = first["headers"]

    def code(self, body: Any, headers: Any, secret: Optional[str] = None, **more: Any) -> str:
        try:
            svc.verify_webhook(body, headers, self.secret if secret is None else secret, **more)
            return "verified"
        except svc.WebhookError as error:
            return error.code

    def test_verifies_what_the_service_sent(self) -> None:
        for each in FIXTURE["deliveries"]["received"]:
            event = svc.verify_webhook(base64.b64decode(each["body"]), each["headers"], self.secret)
            self.assertIn(event["event"], ["enrollment.created", "verification.session.completed"])
        shop = client(webhook_secret=self.secret)
        upper = {name.upper(): value for name, value in self.headers.items()}
        self.assertEqual(shop.verify_webhook(self.body, upper)["event_id"], self.headers["x-svc-event-id"])

    def test_refuses_every_other_body_signature_and_secret(self) -> None:
        seed = random.randrange(2**32)
        chance = random.Random(seed)
        for _ in range(300):
            changed = bytearray(self.body)
            changed[chance.randrange(len(changed))] ^= chance.randrange(1, 256)
            self.assertEqual(self.code(bytes(changed), self.headers), "invalid_signature", seed)
            noise = "".join(chr(chance.randrange(0x3000)) for _ in range(chance.randrange(80)))
            signed = {**self.headers, "x-svc-signature": noise}
            self.assertEqual(self.code(self.body, signed), "invalid_signature", (seed, noise))
            self.assertEqual(self.code(self.body, self.headers, noise + "x"), "invalid_signature", (seed, noise))

    def test_refuses_what_a_framework_has_parsed(self) -> None:
        for parsed in [json.loads(self.body), self.body.decode(), None]:
            self.assertEqual(self.code(parsed, self.headers), "raw_body_required")
        self.assertLess(abs(time.time() - int(self.headers["webhook-timestamp"])), 300)


class Inputs(unittest.TestCase):
    """The tables of test/sdk/inputs.ts: every client library treats them alike."""

    shop = {"code": "c", "redirect_uri": "r", "shop_domain": "s", "customer_id": "1"}
    calls: Dict[str, Callable[[svc.Client, Any], object]] = {
        "code": lambda by, value: by.exchange(value, "v"),
        "code_verifier": lambda by, value: by.exchange("c", value),
        "userinfo": lambda by, value: by.userinfo(value),
        "revoke": lambda by, value: by.revoke(value),
        "session": lambda by, value: by.session(value),
    }
    addresses: Dict[str, Callable[[svc.Client, Any], object]] = {
        "scope": lambda by, value: by.authorization_url(["country", value]),
        "state": lambda by, value: by.authorization_url([], value),
        "ui_locales": lambda by, value: by.authorization_url([], None, value),
        "client_reference_id": lambda by, value: by.authorization_url([], None, None, value),
    }

    def setUp(self) -> None:
        self.inputs = FIXTURE["inputs"]
        self.sent: List[urllib.request.Request] = []

    def client(self, **changes: Any) -> svc.Client:
        def send(request: urllib.request.Request, _timeout: float) -> Answer:
            self.sent.append(request)
            body = "" if request.full_url.endswith("/revoke") else self.inputs["wholeBody"]
            return Answer(200, {}, body.encode())

        return svc.Client(**{**self.inputs["settings"], "send": send, "sleep": lambda _: None, **changes})

    def refused(self, kind: type, code: str, call: Callable[[], object], hidden: str = "\0") -> None:
        with self.assertRaises(kind) as caught:
            call()
        self.assertEqual(getattr(caught.exception, "code"), code)
        self.assertNotIn(hidden, str(caught.exception) + repr(caught.exception))

    def test_refuses_arguments_that_cannot_be_sent(self) -> None:
        for name, call in {**self.calls, **self.addresses}.items():
            with self.subTest(name):
                call(self.client(), "plain")
                before = len(self.sent)
                for form in [*self.inputs["unsendable"], "_\ud800", "_\udcff"]:
                    value = form.replace("_", "private")
                    self.refused(svc.ArgumentError, "malformed_argument", lambda: call(self.client(), value), "private")
                for wrong in [5, b"x", {"a": 1}] + ([None] if name in self.calls else []):
                    self.refused(svc.ArgumentError, "malformed_argument", lambda: call(self.client(), wrong))
                self.assertEqual(len(self.sent), before)
        circular: List[Any] = []
        circular.append(circular)
        for request in [None, "x", [], {"a": object()}, {"a": circular}, {"a": float("nan")}]:
            call_shop = lambda: self.client().exchange_storefront(request)  # type: ignore # noqa: B023, E731
            self.refused(svc.ArgumentError, "malformed_argument", call_shop)

    def test_trims_settings_and_refuses_those_that_cannot_be_sent(self) -> None:
        for name, value in self.inputs["settings"].items():
            with self.subTest(name):
                for around in self.inputs["surroundings"]:
                    self.sent.clear()
                    by = self.client(**{name: around + value + around})
                    by.session("ses_1")
                    by.exchange("c", "v")
                    by.exchange_storefront(self.shop)  # type: ignore
                    session, token, shop = self.sent
                    self.assertEqual(session.full_url, "https://svc.example/api/verify/hvf-session/ses_1")
                    self.assertEqual(session.headers["Authorization"], "Bearer svc_test_secret")
                    self.assertIn(b"client_id=client_1&client_secret=svc_cs_secret", token.data)  # type: ignore
                    self.assertEqual(shop.headers["X-svc-integration-id"], "integration_1")
                for form in [*self.inputs["unsendable"], "_\ud800", 5]:
                    changed = form.replace("_", value) if isinstance(form, str) else form
                    make = lambda: self.client(**{name: changed})  # noqa: B023, E731
                    self.refused(svc.ConfigurationError, "malformed_setting", make, value)
        for url in self.inputs["wrongBaseUrls"]:
            self.refused(svc.ConfigurationError, "missing_setting", lambda: svc.Client(url))
        blank = self.client(api_key=" \n", webhook_secret=" ")
        self.refused(svc.ConfigurationError, "missing_setting", lambda: blank.session("x"))
        self.refused(svc.WebhookError, "secret_required", lambda: blank.verify_webhook(b"", {}))

    def test_raises_an_error_of_its_own_for_every_malformed_answer(self) -> None:
        shop: Dict[str, Any] = {"shop": lambda by, _: by.exchange_storefront(self.shop)}
        for name, call in {**self.calls, **shop}.items():
            for lost in [ConnectionResetError(), UnicodeError(), ValueError()]:

                def fail(*_: object) -> Answer:
                    raise lost  # noqa: B023

                self.refused(svc.ConnectionFailed, "no_answer", lambda: call(self.client(send=fail), "x"))
            malformed = [] if name == "revoke" else self.inputs["malformedBodies"]
            for body in [*malformed, *self.inputs["incompleteBodies"].get(name, []), "\udcff"]:
                answer = Answer(200, {}, body.encode("utf-8", "surrogateescape"))
                by = self.client(send=lambda *_: answer)  # noqa: B023
                self.refused(svc.ConnectionFailed, "malformed_answer", lambda: call(by, "x"))  # noqa: B023

    def test_refuses_arguments_of_a_wrong_type(self) -> None:
        by = self.client()
        for wrong in [None, 5, [], object()]:
            for call in [
                lambda: by.callback(wrong, "state"),  # type: ignore
                lambda: by.callback("", wrong),  # type: ignore
                lambda: by.verify_webhook(b"", wrong),  # type: ignore
                lambda: by.verify_webhook(wrong, {}),  # type: ignore
                lambda: by.verify_webhook(b"", {"x-svc-signature": wrong, wrong if wrong != [] else 1: "x"}),  # type: ignore
                lambda: svc.verify_webhook(b"", {}, wrong),  # type: ignore
            ]:
                with self.assertRaises(svc.SvcError):
                    call()


class SharedCases(unittest.TestCase):
    """The tables of test/sdk/cases.ts: every client library answers them alike."""

    def answers(self, kind: str, call: Callable[[Dict[str, Any]], List[Any]]) -> None:
        for case in FIXTURE["cases"][kind]:
            try:
                answer = call(case["given"])
            except svc.AuthorizationError as error:
                answer = [error.code, error.reason, error.retryable, error.session_id]
            except svc.ApiError as error:
                answer = [error.code, error.retry_after, error.retryable]
            except svc.SvcError as error:
                answer = [error.code]
            self.assertEqual(answer, case["answer"], case)

    def test_callbacks(self) -> None:
        shop = svc.Client("https://svc.example")
        self.answers("callbacks", lambda given: list(shop.callback(given["query"], given["state"])))

    def test_deliveries(self) -> None:
        def verify(given: Dict[str, Any]) -> List[Any]:
            headers = Message()
            for name, value in given["headers"]:
                headers[name] = value
            body, (secret, now) = base64.b64decode(given["body"]), (given["secret"], given["now"])
            return [svc.verify_webhook(body, headers, secret, given["tolerance"], now=now)["event_id"]]

        self.answers("deliveries", verify)

    def test_lists_of_values(self) -> None:
        first = FIXTURE["deliveries"]["received"][0]
        lists = {name: [value] for name, value in first["headers"].items()}
        event = svc.verify_webhook(base64.b64decode(first["body"]), lists, FIXTURE["deliveries"]["secret"])
        self.assertEqual([event["event_id"]], lists["x-svc-event-id"])

    def test_errors(self) -> None:
        def call(given: Dict[str, Any]) -> List[Any]:
            answer = Answer(given["status"], given["headers"], given["body"].encode())
            client(send=lambda *_: answer, sleep=lambda _: None).userinfo("token")
            return ["success"]

        self.answers("errors", call)


if __name__ == "__main__":
    unittest.main()
