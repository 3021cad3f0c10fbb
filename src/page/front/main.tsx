import { render } from 'preact';
import { App } from './app.js';
import { connect } from './connection.js';

render(<App />, document.body);
connect();
