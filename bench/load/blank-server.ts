import { createServer } from 'node:http';
import { freePort } from '../processes.ts';
import { answerCalls } from '../remote.ts';

/** A program: an HTTP server that does nothing, to measure the load generator itself. */
const body = JSON.stringify({ access_token: 'x'.repeat(500), token_type: 'Bearer', expires_in: 3600 });

answerCalls({
  async start() {
    const server = createServer((request, response) => {
      request.resume().once('end', () => {
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
          .end(body);
      });
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return { origin: `http://127.0.0.1:${port}` };
  },
});
