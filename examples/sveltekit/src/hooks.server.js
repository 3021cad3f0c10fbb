export const init = async () => {
  await import('./routes/webhooks/+server');
};
