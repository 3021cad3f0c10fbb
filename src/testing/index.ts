export {
  type ApiGatewayOptions,
  type ApiGatewayV1Event,
  type ApiGatewayV2Event,
  toApiGatewayV1,
  toApiGatewayV2,
} from './api-gateway.js';
export {
  type InjectOptions,
  type SupertestRequest,
  toCurl,
  toInject,
  toRequest,
  toSupertest,
} from './delivery-forms.js';
export { asSpecified, type DeliveryHeadersInput, deliveryHeaders, signedHeaders } from './delivery-headers.js';
export { type ReadDelivery, readDelivery } from './read-delivery.js';
export { type EventOverrides, sampleEvent } from './sample-event.js';
export {
  type DeliveryRequest,
  eventJson,
  type SignDeliveryInput,
  type SignedDelivery,
  type SigningOptions,
  signDelivery,
} from './sign-delivery.js';
export { tamper } from './tamper.js';
