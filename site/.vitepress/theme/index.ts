import DefaultTheme from 'vitepress/theme';
import './style.css';
import './home.css';

export default DefaultTheme;
