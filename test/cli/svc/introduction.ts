/** The introduction of `docs/svc.md`. */
export const introductionOfSvc = `# svc

Members of a partner manage their integration with this command.
It has what the pages of the [portal](portal.md) have, for terminals and scripts.
In a clone of the repository, \`svc\` is \`node cli/bin/svc.js\` once it is built, or \`npx --no-install svc\`.

## Sign in

\`\`\`sh
svc login --url https://verify.example
\`\`\`

1. \`svc login\` shows a code, such as \`WDJB-MJHT\`, and an address.
2. Open the address in a browser, on any device, and sign in with your passkey.
3. Type the code. The page shows which computer asks, from where, and what it may do with your role.
4. Choose **Let it in**. \`svc\` goes on within 5 seconds.

The code works once, for 10 minutes.
Confirm only a login that you started yourself: no other person has a reason to send you a code.

The login has the scope of your role, and ends after 12 hours.
It ends immediately with \`svc logout\`, and with **End this login** in the portal.
So it does when your role or passkey changes, when you are removed, and when your partner is suspended.
It is saved as a profile in a file that only you can read (0600): \`~/.config/svc/profiles.json\`.

Secrets, addresses, caps, logo, warnings and members can be changed for 30 minutes after your passkey.
The same holds for what holds, postpones or cancels deliveries.
Later, such a command fails with \`passkey_required\` (exit 3).
Open **Command line** in the portal, choose **Allow changes of secrets**, and repeat the command.

\`svc\` looks for the service in this order:

1. \`--url\`
2. the profile of \`--profile\`
3. \`SVC_BASE_URL\`
4. the current profile
5. \`http://localhost:8080\`

A token is sent to the server only that made it.

## The first day

\`\`\`sh
svc keys list
svc webhooks set key_… --url http://localhost:4000/hooks   # shows the signing secret, once
svc listen --forward-to http://localhost:4000/hooks        # in a second terminal: events arrive here
svc trigger flow --person adult                            # a session with its events, and a code
svc trigger vae.resolved                                   # one sample event
svc deliveries list --status failed                        # what your receiver did not take
svc requests list --status 4xx --since 1h                  # what was refused
\`\`\`

\`svc trigger flow\` is a user of the [sandbox](testing.md): it accepts, verifies as the named person, and stops
at your redirect URI. \`--json\` has the code and the verifier, which your server can exchange.

## In scripts

With \`--json\`, the value is on stdout: camelCase, times in UTC, money in cents, a list as an array.
Everything else is on stderr, errors as \`{"error": {"code", "message", "hint"?}}\`.
Commands that stop, rotate or delete ask for the id. \`--yes\` skips the question, and \`--dry-run\` changes nothing.
Commands that make a secret show it once. \`--out-file FILE\` writes it to a new file (0600) instead.
Programs that run without a member use an API key: \`GET /api/events\` and \`GET /api/wallet\`.

| exit code | meaning |
|--:|---|
| 0 | done |
| 1 | failed, or not confirmed |
| 2 | wrong use: unknown command, flag or value; nothing was done |
| 3 | not signed in, not permitted for your role, or the passkey is too old |
| 4 | not found |
| 5 | refused by a rule, or in conflict with the state of the record |
| 6 | rate limited |
| 7 | the server cannot be reached, or has no portal |
| 130 | ended by Ctrl-C: \`svc listen\`, or a question (Ctrl-D too), and then nothing was done |

Completion: \`svc autocomplete bash\`, \`svc autocomplete zsh\`, or
\`svc autocomplete fish > ~/.config/fish/completions/svc.fish\`.
`;
