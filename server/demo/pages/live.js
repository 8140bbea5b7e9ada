// Shows webhook events when they arrive. It loads the page again when the number of events has changed.
const { eventCount } = document.currentScript.dataset;

async function reloadOnNewEvent() {
  const response = await fetch('/result/state', { cache: 'no-store' }).catch(() => undefined);
  if (response?.ok && (await response.text()) !== eventCount) location.reload();
  else setTimeout(reloadOnNewEvent, 1000);
}

setTimeout(reloadOnNewEvent, 500);
