import { render } from 'preact';
import { App } from './app.js';
import { connect } from './connection.js';
import { followAddress } from './follow-address.js';

followAddress();
render(<App />, document.body);
connect();
