// Serves route handlers by their path, as Next does: GET /callback is the function GET of app/callback/route.js.
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const origin = `http://localhost:${process.env.PORT}`;

async function responseTo({ method, url, headers, stream }) {
  const file = join(process.cwd(), 'app', new URL(url, origin).pathname, 'route.js');
  const handler = existsSync(file) && (await import(pathToFileURL(file).href))[method];
  if (!handler) return new Response(null, { status: 404 });
  const body = method === 'GET' ? {} : { body: stream, duplex: 'half' };
  return handler(new Request(new URL(url, origin), { method, headers, ...body }));
}

createServer(async (request, response) => {
  const { method, url, headers } = request;
  const answer = await responseTo({ method, url, headers, stream: Readable.toWeb(request) });
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}).listen(Number(process.env.PORT));
