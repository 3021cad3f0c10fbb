// Express 4, installed beside Express 5 under another name.
declare module 'express4' {
  import express from 'express';
  export default express;
}
