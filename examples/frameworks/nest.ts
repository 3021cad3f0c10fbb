import 'reflect-metadata';
import { Controller, Get, HttpCode, Module, Post, Req, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createReceiver } from 'service-webhooks';
import { type NestRequest, webhookMiddleware } from 'service-webhooks/nest';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

const receiver = createReceiver({ secret });

@Controller('webhooks')
class WebhooksController {
  @Post()
  @HttpCode(200)
  @UseInterceptors(webhookMiddleware(receiver))
  receive(@Req() req: NestRequest) {
    console.log(`done ${req.webhook?.event.id}`);
    return { thanks: true };
  }

  @Get('health') // for your monitor: keep it private
  health() {
    return receiver.health();
  }
}

@Module({ controllers: [WebhooksController] })
class AppModule {}

const app = await NestFactory.create<NestExpressApplication>(AppModule, { rawBody: true, logger: ['error', 'warn'] });
app.useBodyParser('json', { limit: '5mb' }); // or Nest refuses what is over 100 kB
await app.listen(PORT);
console.log(`receiving on port ${PORT}`);
