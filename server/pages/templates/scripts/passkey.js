// Passkeys by WebAuthn. Without WebAuthn, or without scripts, the page is as it was.
const form = document.querySelector('form.passkey');
const shownAt = Date.now();
// A challenge lasts two minutes.
const challengeMs = 90_000;

async function options() {
  if (Date.now() - shownAt < challengeMs) return JSON.parse(form.dataset.passkey);
  const answer = await fetch(form.dataset.options, { cache: 'no-store' });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

async function ask() {
  const given = await options();
  return given.user
    ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(given) })
    : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(given) });
}

async function send(event) {
  event.preventDefault();
  const { submitter: button } = event;
  button.disabled = true;
  try {
    form.elements.credential.value = JSON.stringify((await ask()).toJSON());
    form.submit();
  } catch (error) {
    // Cancelled by the user. A device that has a passkey of this user already makes no other.
    if (error.name === 'InvalidStateError') document.querySelector('button[value=no-passkey]')?.click();
  }
  button.disabled = false;
}

if (globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON && globalThis.top === globalThis) {
  form.addEventListener('submit', send);
  form.hidden = false;
  const can = document.querySelector('input[name=passkey]');
  if (can && (await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable())) can.value = 'can';
}
