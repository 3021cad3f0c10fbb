import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { Controller, HttpCode, Module, Post, Req, Res, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { sign } from 'service-webhooks';
import { type NestRequest, type NestResponse, webhookHandler, webhookMiddleware } from 'service-webhooks/nest';

const secret = 'whsec_nest';
let handled = 0;

@Controller()
class WebhooksController {
  private readonly receive = webhookHandler({ secret, logger: false, on: { '*': () => void handled++ } });

  @Post('endpoint')
  endpoint(@Req() req: object, @Res() res: object) {
    return this.receive(req as NestRequest, res as NestResponse);
  }

  @Post('intercepted')
  @HttpCode(200)
  @UseInterceptors(webhookMiddleware({ secret, logger: false }))
  intercepted(@Req() req: object) {
    handled++;
    return { outcome: (req as NestRequest).webhook?.event.type };
  }
}

@Module({ controllers: [WebhooksController] })
class AppModule {}

async function main() {
  const app = await NestFactory.create(AppModule, { rawBody: true, logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;

  const body = JSON.stringify({
    id: 'evt_1',
    type: 'stt.completed',
    version: '2026-07-11',
    jobId: 'clip_1',
    data: { clipId: 'clip_1' },
    timestamp: new Date().toISOString(),
  });
  const headers = { 'content-type': 'application/json', ...sign({ body, secret }) };
  const send = async (path: string, text: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: text });
    const { outcome, error } = (await response.json()) as { outcome?: string; error?: { code: string } };
    return `${response.status} ${outcome ?? error?.code}`;
  };

  const answers: Record<string, string[]> = {};
  for (const path of ['/endpoint', '/intercepted']) {
    const changed = body.replace('clip_1', 'clip_2');
    answers[path] = [await send(path, body), await send(path, body), await send(path, changed)];
  }
  await app.close();

  const loaded = Object.keys(require.cache)
    .filter((path) => /service-webhooks[\\/]dist[\\/][a-z]+\.c?js$/.test(path))
    .map((path) => basename(path));
  console.log(JSON.stringify({ loaded: loaded.sort(), ...answers, handled }));
}

void main();
