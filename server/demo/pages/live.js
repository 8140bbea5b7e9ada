// Shows webhook events as they arrive: the page is loaded again when there is one more.
const { version } = document.currentScript.dataset;

async function look() {
  const answer = await fetch('/result/state', { cache: 'no-store' }).catch(() => undefined);
  if (answer?.ok && (await answer.text()) !== version) location.reload();
  else setTimeout(look, 1000);
}

setTimeout(look, 500);
